"""Compares the variables that the sources read with the tables of docs/environment.md.

    environment_test.py ROOT    print each variable that only one of them has; the exit status is 1 if there is any
"""

import os
import re
import sys

FOLDERS = ("apps", "backends", "core", "emu", "kernels", "library", "tools", "vgpu")
READ = re.compile(r'(?:getenv|environ\.get)\(\s*"([A-Z_]+)"|environ\["([A-Z_]+)"\]')
OWN = re.compile(r'"(RUNG_[A-Z0-9_]*[A-Z0-9])"')
MACRO = re.compile(r"#define (RUNG_\w+)")
TABLE = re.compile(r"`([A-Z][A-Z0-9_]*[A-Z0-9])`")


def sources(root):
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".cpp", ".hpp", ".h", ".cuh", ".mm", ".py")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        yield file.read()


def read_by_sources(root):
    """The variables of getenv() and the like, and Rung's own names in quotes that are no macros."""
    found, macros = set(), set()
    for text in sources(root):
        found.update(name for match in READ.findall(text) for name in match if name)
        found.update(OWN.findall(text))
        macros.update(MACRO.findall(text))
    return found - macros


def in_tables(root):
    """The variables in the first column of a table."""
    with open(os.path.join(root, "docs/environment.md"), encoding="utf-8") as file:
        rows = [line.split("|")[1] for line in file if line.startswith("|")]
    return {name for row in rows for name in TABLE.findall(row)}


def main():
    root = sys.argv[1]
    read, listed = read_by_sources(root), in_tables(root)
    # A name may also reach getenv() by a constant of the program.
    every = "\n".join(sources(root))
    unread = {name for name in listed if f'"{name}"' not in every}
    for name in sorted(read - listed):
        print(f"docs/environment.md lacks {name}")
    for name in sorted(unread):
        print(f"docs/environment.md has {name}, which no source reads")
    return 1 if read - listed or unread else 0


if __name__ == "__main__":
    sys.exit(main())
