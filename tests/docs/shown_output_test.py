"""Runs the commands whose output README.md shows, and compares: shown_output_test.py RUNG PROJECT

A block ```console has commands after `$ `, each followed by its output. `…` stands for lines that are left out; lines may
be folded anywhere between words. A block ```cuda that names "line N of FILE" is compared with that file.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RUNG, PROJECT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def words(text):
    return " ".join(text.split())


def run(command):
    """All that the command prints, with an empty cache of its own."""
    assert command.startswith("build/rung "), command
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "RUNG_EMU_CACHE": cache}
        line = f"'{RUNG}' {command.removeprefix('build/rung ')} 2>&1"
        return subprocess.run(line, shell=True, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False).stdout


def missing(shown, printed):
    """The parts of what is shown, between its dots, that are not printed in that order."""
    rest = words(printed)
    for part in filter(None, map(words, shown.split("…"))):
        begin, found, after = rest.partition(part)
        if not found:
            yield part
        else:
            rest = after


def main():
    if not any(map(shutil.which, ("clang++-19", "clang++-20", "clang++-21"))):
        print("skipped: no clang here")
        return 77
    failures, count = [], 0
    for block in re.findall(r"```console\n(.*?)```", README, re.S):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            printed = run(command)
            count += 1
            failures += [f"{command}: does not print\n  {part}\nbut\n{printed}" for part in missing(shown, printed)]
    for code in re.findall(r"```cuda\n(.*?)```", README, re.S):
        line, name = re.search(r"// from line (\d+) of (\S+)", code).groups()
        shown = re.sub(r" *// from line .*", "", code).rstrip("\n").split("\n")
        text = (PROJECT / name).read_text(encoding="utf-8").split("\n")[int(line) - 1 :][: len(shown)]
        count += 1
        failures += [] if text == shown else [f"{name}: differs from what README.md shows from line {line} on"]
    print("\n".join(failures) or f"{count} blocks")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
