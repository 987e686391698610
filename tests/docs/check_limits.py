"""Checks the first impression of README.md and docs/: check_limits.py ROOT

README.md is short, and the make targets that it names exist. docs/ has few pages, each begins with a sentence, and the
cells of tables stay short enough to be read in a column.
"""

import pathlib
import re
import sys

README_LINES = 150
PAGES = 25
CELL = 200  # characters


def cells(text):
    """Yields (line, cell) for each cell of a table."""
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        is_code ^= line.lstrip().startswith("```")
        if not is_code and line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield number, cell.strip()


def first_line(text):
    """The first line after the title."""
    return next((line for line in text.split("\n")[1:] if line.strip()), "")


def complaints(root):
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8")
    if text.count("\n") > README_LINES:
        yield f"README.md has {text.count(chr(10))} lines; at most {README_LINES}"
    rules = set(re.findall(r"^([\w -]+):", (root / "Makefile").read_text(encoding="utf-8"), re.M))
    targets = {name for rule in rules for name in rule.split()}
    for target in re.findall(r"(?:^|`)make ([a-z][\w-]*)", text, re.M):
        if target not in targets:
            yield f"README.md: make {target}: the Makefile has no such target"

    pages = [*sorted(root.glob("docs/*.md")), *sorted(root.glob("docs/notes/*.md"))]
    if len(pages) > PAGES:
        yield f"docs/ has {len(pages)} pages; at most {PAGES}, so join two that a reader needs together"
    for page in pages:
        line = first_line(page.read_text(encoding="utf-8"))
        if re.match(r"[#|`!<-]", line):
            yield f"{page.relative_to(root)}: begins with '{line[:20]}'; begin with what the reader can do with the page"
    for page in [readme, *pages, *sorted(root.glob("course/**/*.md"))]:
        for number, cell in cells(page.read_text(encoding="utf-8")):
            if len(cell) > CELL:
                yield f"{page.relative_to(root)}:{number}: a cell of {len(cell)} characters; at most {CELL}"


def main():
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "README.md and docs/ are within their limits")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
