#!/usr/bin/env python3
"""Every command that the documentation and the headers of the rungs tell the reader to try, on smaller
problems: it must run as it is written.

commands_test.py RUNG PROJECT
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

MOST = 32  # of an extent
GROUP = 128  # the least of an extent along which weights share scales
COUNTS = {"--batch": "2", "--groups": "2", "--tokens": "64", "--random": "2", "--seconds": "0.001"}
# What a reader brings, or made by a command before.
PREPARED = {"program.cu": "tests/emu/programs/tiled_matmul.cu", "gemm.json": "results/nvidia-h200/gemm-f32.json"}
# 1: a start is no solution. 3: not available on this machine.
ALLOWED = {"learn": (0, 1), "doctor": (0, 3)}
ONLY_ON_GPUS = ("cublas", "--groups")


def tried():
    """The `try:` lines of the rungs."""
    for path in sorted(PROJECT.glob("kernels/*/*/[0-9]*.*")):
        # A field of the header goes on in lines that are indented.
        found = re.search(r"try: (rung [^|\n]*(?:\n//   [^|\n]*)*)", path.read_text())
        yield path.name, " ".join(found[1].replace("\n//", " ").split())


def documented():
    """Lines of shell blocks that call the program."""
    for path in [PROJECT / "README.md", *sorted(PROJECT.glob("docs/**/*.md"))]:
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
    """The first rung of a ladder, in place of all."""
    for ladder in ("gemm", "dot", "sum"):
        if selector == ladder:
            return f"{ladder}/cpu/00" if ladder != "sum" else "sum/cuda/01"
    first = "01" if selector.startswith("sum") else "00"
    return f"{selector}/{first}" if re.fullmatch(r"(gemm|dot|sum)/(cpu|cuda|metal)", selector) else selector


def shrunk(command):
    """The words of a command, with other numbers."""
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
    return [path for word in words for path in (sorted(glob.glob(word, root_dir=PROJECT)) if "*" in word else [word])]


def is_possible(words, folder):
    """Not those about files that the reader is left to make, nor placeholders."""
    if any(word.startswith(("SELECTOR", "ARGUMENTS", "RUNG", "FILE")) or "…" in word for word in words):
        return False
    if words[0] in ("tune", "emu", "dist") or "/99" in " ".join(words):
        return False
    given = [word for word in words[1:] if re.search(r"\.(json|cu|metal)(:\w+)?$", word)]
    written = {words[i + 1] for i, word in enumerate(words[:-1]) if word in ("--json", "-o", "--map", "--html")}
    known = [word for word in given if word not in written and words[0] != "new"]
    return all((folder / re.sub(r":\w+$", "", word)).exists() for word in known)


def prepare(folder):
    for name, source in PREPARED.items():
        shutil.copy(PROJECT / source, folder / name)
    for name in ("results", "tests", "kernels"):
        (folder / name).symlink_to(PROJECT / name)
    for name in ("my_gemm.cu", "my_gemm.metal"):
        subprocess.run([RUNG, "new", name], cwd=folder, check=True, capture_output=True)


def main():
    if not any(map(shutil.which, ("clang++-19", "clang++-20", "clang++-21"))):
        print("skipped: no clang here")
        return 77
    failures, count, seen = [], 0, set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for where, command in [*tried(), *documented()]:
            words = shrunk(command)
            if tuple(words) in seen or not is_possible(words, folder):
                continue
            seen.add(tuple(words))
            words += ["--force"] if words[0] == "new" else []
            done = subprocess.run([RUNG, *words], cwd=folder, capture_output=True, text=True, check=False)
            count += 1
            is_absent = done.returncode == 3 and any(what in command for what in ONLY_ON_GPUS)
            if done.returncode not in ALLOWED.get(words[0], (0,)) and not is_absent:
                failures.append(f"{where}: {command}\n  as rung {shlex.join(words)}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    print(f"{count} commands")
    print("\n".join(failures))
    return 1 if failures or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
