"""Builds the static site of the project: python3 tools/site --rung build/rung --output build/site.

README.md in this folder describes the parts.
"""

import argparse
import os
import pathlib
import sys
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent


def program():
    """The complete program of the build folder, which is in bin/ where build/rung is that of the CPU ladders."""
    complete = PROJECT / "build/bin/rung"
    return complete if complete.exists() else PROJECT / "build/rung"


def options():
    parser = argparse.ArgumentParser(prog="tools/site", description="Build the static site.")
    parser.add_argument("--rung", type=pathlib.Path, default=program(), help="the program (default: that of build/)")
    parser.add_argument("--output", type=pathlib.Path, default=PROJECT / "build/site", help="default: build/site")
    parser.add_argument("--cache", type=pathlib.Path, help="results of rung (default: OUTPUT-cache)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at once (default: processors)")
    parser.add_argument(
        "--sample",
        metavar="RUNG,…",
        help="run only these rungs and exercises, such as gemm/cuda/05_vectors,03_coalesced",
    )
    return parser.parse_args()


SYSTEM_PYTHON = "/usr/bin/python3"  # for which scripts/setup.sh installs the packages
NOT_AVAILABLE = 3


def imported():
    """The module that builds the site, of this Python or the system's; None if neither has the packages it needs."""
    try:
        import build
    except ModuleNotFoundError as missing:
        if os.path.exists(SYSTEM_PYTHON) and not os.path.samefile(sys.executable, SYSTEM_PYTHON):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", *sys.argv])
        print(f"site: no module {missing.name} here; scripts/setup.sh site installs it", file=sys.stderr)
        return None
    return build


def main():
    chosen = options()
    build = imported()
    if build is None:
        return NOT_AVAILABLE
    if not chosen.rung.exists():
        print(f"site: {chosen.rung} does not exist; `make` builds it", file=sys.stderr)
        return 2
    start = time.monotonic()
    try:
        site = build.build(
            project=PROJECT,
            rung=chosen.rung,
            output=chosen.output,
            cache=chosen.cache or chosen.output.with_name(chosen.output.name + "-cache"),
            jobs=chosen.jobs,
            sample=chosen.sample.split(",") if chosen.sample else None,
        )
    except build.Problem as problem:
        print(f"site: {problem}", file=sys.stderr)
        return 1
    print(f"{chosen.output / 'index.html'}: {len(site.written)} files in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
