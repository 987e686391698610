#!/usr/bin/env python3
"""Runs every command in the documentation and in the headers of the rungs, on smaller problems: it must work as
written.

commands_test.py RUNG PROJECT [--every N]    runs every N-th command only
"""

import glob
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

RUNG = pathlib.Path(sys.argv.pop(1))
PROJECT = pathlib.Path(sys.argv.pop(1))
EVERY = int(sys.argv.pop()) if "--every" in sys.argv else 1

MOST = 32  # the largest extent
GROUP = 128  # the smallest extent along which weights share scales
COUNTS = {"--batch": "2", "--groups": "2", "--tokens": "64", "--random": "2", "--seconds": "0.001"}
# Files of the reader's own, or written by an earlier command.
PREPARED = {"program.cu": "tests/emu/programs/tiled_matmul.cu", "gemm.json": "results/nvidia-h200/gemm-f32.jsonl"}
# 1: a start is no solution, a descriptor does not fit. 3: not available on this machine.
ALLOWED = {"learn": (0, 1), "layout": (0, 1), "doctor": (0, 3)}
ONLY_ON_GPUS = ("cublas", "--groups")


def tried():
    """The `try:` lines of the rungs and of the library's kernels."""
    rungs = PROJECT.glob("ladder/*/*/[0-9]*.*")
    kernels = (path for op in ("gemm", "dot") for path in PROJECT.glob(f"kernels/{op}/*/*.c*"))
    for path in sorted([*rungs, *kernels]):
        # A field of the header goes on in lines that are indented.
        found = re.search(r"try:\s(?:// +)?(rung [^|\n]*(?:\n//   [^|\n]*)*)", path.read_text())
        yield path.name, " ".join(found[1].replace("\n//", " ").split())


def documented():
    """Lines of shell blocks that call the program."""
    for path in [PROJECT / "README.md", *sorted(PROJECT.glob("docs/**/*.md")), *sorted(PROJECT.glob("course/**/*.md"))]:
        if "notes" in path.parts:
            continue
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(), re.S):
            for line in block.replace("\\\n", " ").splitlines():
                line = re.sub(r"\s+# .*", "", line.strip())
                if re.match(r"(build/)?rung [a-z]", line):
                    yield path.name, line


def small(size, most=MOST):
    return "x".join(str(min(int(float(extent)), most)) for extent in size.split("x"))


def one_rung(selector):
    """The first rung of a ladder instead of the whole ladder; other selectors are unchanged."""
    for ladder in ("gemm", "dot", "sum"):
        if selector == ladder:
            return f"{ladder}/cpu/00" if ladder != "sum" else "sum/cuda/01"
    first = "01" if selector.startswith("sum") else "00"
    return f"{selector}/{first}" if re.fullmatch(r"(gemm|dot|sum)/(cpu|cuda|metal)", selector) else selector


def shrunk(command):
    """The words of a command with smaller sizes and counts."""
    words = shlex.split(command)[1:]
    most = GROUP if "--weights" in words else MOST
    if words[0] in ("bench", "verify", "tune"):
        words = [words[0], *map(one_rung, words[1:])]
    for i, word in enumerate(words[:-1]):
        if word in ("--n", "--m", "--k"):
            words[i + 1] = small(words[i + 1])
        elif word == "--sizes":
            words[i + 1] = ",".join(small(size, most) for size in words[i + 1].split(","))
        elif word == "--max-size":
            words[i + 1] = "300"
        elif word == "--vs":
            words[i + 1] = "none"
        elif word in COUNTS:
            words[i + 1] = COUNTS[word]
        elif word == "--device" and words[i + 1] == "gpu":
            words[i + 1] = "virtual"
    is_own = any(word.endswith((".cu", ".metal")) for word in words)
    if words[0] == "bench":
        words += [] if "--seconds" in words else ["--seconds", "0.001"]
        words += [] if is_own or "--vs" in words else ["--vs", "none"]
        on_cpu = all("/cpu" in word or "/" not in word for word in words[1:3])
        words += [] if on_cpu or "--device" in words else ["--device", "virtual"]
        words += ["--unobserved"]
    if words[0] in ("bench", "trace") or (words[0] == "explain" and is_own and "program.cu" not in str(words)):
        has_size = any(word in words for word in ("--n", "--sizes", "--random"))
        words += [] if has_size else ["--n", str(MOST)]
    if words[0] == "report":
        words += ["--no-trace"]
    return [path for word in words for path in (sorted(glob.glob(word, root_dir=PROJECT)) if "*" in word and " " not in word else [word])]


def is_possible(words, folder):
    """False for commands with placeholders or with files that do not exist in `folder`."""
    if any(word.startswith(("SELECTOR", "ARGUMENTS", "RUNG", "FILE")) or "…" in word for word in words):
        return False
    if words[0] in ("tune", "dist") or "/99" in " ".join(words):
        return False
    given = [word for word in words[1:] if re.search(r"\.(jsonl?|cu|metal)(:.+)?$", word)]
    written = {words[i + 1] for i, word in enumerate(words[:-1]) if word in ("--json", "-o", "--map", "--html")}
    known = [word for word in given if word not in written and words[0] != "new"]
    return all((folder / re.sub(r"(\.cu|\.metal):.+$", r"\1", word)).exists() for word in known)


def prepare(folder):
    for name, source in PREPARED.items():
        shutil.copy(PROJECT / source, folder / name)
    for name in ("results", "tests", "ladder", "examples"):
        (folder / name).symlink_to(PROJECT / name)
    for name in ("my_gemm.cu", "my_gemm.metal"):
        subprocess.run([RUNG, "new", name], cwd=folder, check=True, capture_output=True)


def main():
    if not any(map(shutil.which, ("clang++-19", "clang++-20", "clang++-21"))):
        print("skipped: no clang here")
        return 77
    failures, seen = [], set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for where, command in [*tried(), *documented()]:
            words = shrunk(command)
            if tuple(words) in seen or not is_possible(words, folder):
                continue
            seen.add(tuple(words))
            writes_exercise = words[0] == "learn" and len(words) == 2  # for commands that check it
            if len(seen) % EVERY != 0 and not writes_exercise:
                continue
            words += ["--force"] if words[0] == "new" else []
            done = subprocess.run([RUNG, *words], cwd=folder, capture_output=True, text=True, check=False)
            is_absent = done.returncode == 3 and any(what in command for what in ONLY_ON_GPUS)
            if done.returncode not in ALLOWED.get(words[0], (0,)) and not is_absent:
                failures.append(f"{where}: {command}\n  as rung {shlex.join(words)}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    print(f"every {EVERY} of {len(seen)} commands" if EVERY > 1 else f"{len(seen)} commands")
    print("\n".join(failures))
    return 1 if failures or len(seen) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
