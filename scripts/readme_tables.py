#!/usr/bin/env python3
"""Fills the tables of README.md and docs/*.md with what `rung report --markdown KIND` prints.

A table is between `<!-- table: RESULTS KIND -->` and `<!-- end of table -->`. RESULTS names the file
results/*/RESULTS.jsonl; write FOLDER/RESULTS if several machines have one, and several names with commas
between them for a table of several files. It may be a pattern, such as FOLDER/random-*. `rung report --help`
lists the kinds.

Without arguments, rewrites the pages. With --check, only names the stale tables in one line, and
exits with 1.
"""

import argparse
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- table: (\S+) (\S+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
NOT_MEASURED = "Not measured yet.\n"


class Problem(Exception):
    """One line about what is wrong with a page or a file of results."""


def files_of(results, name):
    """The files of a table; an empty list if one is missing."""
    files = []
    for part in name.split(","):
        pattern = part if "/" in part else f"*/{part}"
        found = sorted(path for ending in ("json", "jsonl") for path in results.glob(f"{pattern}.{ending}"))
        if len(found) > 1 and "*" not in part:
            folders = ", ".join(path.parent.name for path in found)
            raise Problem(f"table {name}: several machines have one; write FOLDER/{name}, of {folders}")
        if not found:
            return []
        files += found
    return files


def table(rung, results, name, kind):
    files = files_of(results, name)
    if not files:
        return NOT_MEASURED
    done = subprocess.run([rung, "report", *files, "--markdown", kind], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    what = "not what rung bench writes: " if "FILE: " in done.stderr else ""
    raise Problem(f"table {name} {kind}: {what}{done.stderr.strip()}")


def filled(rung, page, results):
    """The text of a page with its tables, and the names of those that differ from what is there."""
    text = page.read_text()
    if text.count("<!-- table:") != len(BLOCK.findall(text)):
        raise Problem(
            f"{page.name}: a table does not reach from '<!-- table: RESULTS KIND -->' up to "
            "'<!-- end of table -->'"
        )
    stale = []

    def replace(match):
        begin, name, kind, old, end = match.groups()
        new = table(rung, results, name, kind)
        if new != old:
            stale.append(f"{name} {kind}")
        return begin + new + end

    return BLOCK.sub(replace, text), stale


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    parser.add_argument("--root", type=pathlib.Path, default=PROJECT, help="of the project")
    parser.add_argument("--rung", type=pathlib.Path, default=PROJECT / "build/rung", help="default: build/rung")
    arguments = parser.parse_args()

    try:
        for page in [arguments.root / "README.md", *sorted(arguments.root.glob("docs/*.md"))]:
            text, stale = filled(arguments.rung.resolve(), page, arguments.root / "results")
            if not stale:
                continue
            if arguments.check:
                raise Problem(
                    f"{page.name}: {', '.join(stale)}: does not match results/; run "
                    "scripts/readme_tables.py"
                )
            page.write_text(text)
    except (Problem, OSError, ValueError) as problem:
        print(f"readme_tables: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
