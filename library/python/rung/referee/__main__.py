"""rung referee TASK.toml CANDIDATE: judges a kernel, and prints the verdict."""

import argparse
import pathlib
import sys


def _arguments(words):
    parser = argparse.ArgumentParser(prog="rung referee", description="Judge a kernel that somebody or something else wrote,"
                                     " on the virtual GPU; time it on a GPU if there is one.")
    parser.add_argument("task", help="TOML file of the task, or an operation such as gemm")
    parser.add_argument("candidate", help="file of CUDA C++, Metal or PTX")
    parser.add_argument("--seed", type=int, default=1, help="draws hidden shapes and inputs (default: 1)")
    parser.add_argument("--no-timing", action="store_true", help="do not time on a GPU, so that verdicts are reproducible")
    parser.add_argument("--json", metavar="FILE", help="write the verdict as JSON; - is standard output")
    parser.add_argument("--markdown", metavar="FILE", help="write the verdict as Markdown (default: standard output)")
    return parser.parse_args(words)


def _write(path, text):
    if path == "-":
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main(words=None):
    """Returns 0 if the candidate is right, 1 if not, 2 for bad usage, 3 if something is missing here."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        sys.stderr.write("rung referee: needs NumPy in this Python; pip install numpy\n")
        return 3
    from .. import UnavailableError
    from . import CandidateError, TaskError, judge
    arguments = _arguments(words)
    task = arguments.task if arguments.task.endswith(".toml") else {"operation": arguments.task}
    try:
        verdict = judge(pathlib.Path(arguments.candidate), task, seed=arguments.seed, timing=not arguments.no_timing)
        if arguments.json:
            _write(arguments.json, verdict.to_json())
        if arguments.markdown or arguments.json != "-":
            _write(arguments.markdown or "-", verdict.to_markdown())
    except UnavailableError as error:
        sys.stderr.write(f"rung referee: {error}\n")
        return 3
    except OSError as error:
        sys.stderr.write(f"rung referee: {error.filename}: {error.strerror}\n")
        return 2
    except (TaskError, CandidateError) as error:
        sys.stderr.write(f"rung referee: {error}\n")
        return 2
    return verdict.exit_code


if __name__ == "__main__":
    sys.exit(main())
