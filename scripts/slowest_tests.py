#!/usr/bin/env python3
"""Prints the tests of a build folder that took longest on average, as a table in Markdown.

    slowest_tests.py BUILD [PAGE]    also replaces the table of PAGE, between the lines `<!-- slowest tests -->`
                                     and `<!-- end of slowest tests -->`

CTest keeps the seconds of each test in Testing/Temporary/CTestCostData.txt, and writes them when a run ends.
"""

import pathlib
import re
import sys

ROWS = 10
TABLE = re.compile(r"(<!-- slowest tests -->\n).*?(<!-- end of slowest tests -->)", re.DOTALL)


def costs(build):
    """(seconds, name) of each test that has run."""
    path = pathlib.Path(build) / "Testing/Temporary/CTestCostData.txt"
    if not path.exists():
        sys.exit(f"slowest_tests.py: {path} does not exist; run ctest in {build} first")
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line == "---":  # the names of failed tests follow
            return
        name, runs, seconds = line.rsplit(" ", 2)
        if int(runs) > 0:
            yield float(seconds), name


def main(build, page=None):
    rows = [f"| `{name}` | {seconds:.0f} |\n" for seconds, name in sorted(costs(build), reverse=True)[:ROWS]]
    table = "| Test | Seconds |\n|---|--:|\n" + "".join(rows)
    print(table, end="")
    if page is None:
        return
    text = pathlib.Path(page).read_text(encoding="utf-8")
    if not TABLE.search(text):
        sys.exit(f"slowest_tests.py: {page} has no lines <!-- slowest tests --> and <!-- end of slowest tests -->")
    pathlib.Path(page).write_text(TABLE.sub(lambda found: found[1] + table + found[2], text), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
