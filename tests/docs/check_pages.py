"""Checks that the prose of Markdown pages is plain English: check_pages.py PAGE…

The phrases are those of check_comments.py. Code, quotations, link targets, and tables that a script generates
between `<!-- name: … -->` and `<!-- end of name -->`, are not prose. Questions and headings may begin
with any word.
"""

import pathlib
import re
import sys

from check_comments import DIALECT

GENERATED = re.compile(r"<!-- (\w+): .*?<!-- end of \1 -->", re.DOTALL)
NOT_PROSE = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|\]\([^)]*\)|<!--.*?-->", re.DOTALL)


def blocks(text):
    """Yields (first line, kind, text) of each paragraph, list item, table cell and heading."""
    start, lines, is_code = 0, [], False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        fence = line.lstrip().startswith("```")
        is_item = re.match(r"\s*(?:[-*]|\d+\.) +", line)
        if fence or is_code or is_item or not line.strip() or line[0] in "|#":
            if lines:
                yield start, "text", "\n".join(lines)
            lines = []
        is_code = is_code != fence
        if fence or is_code or not line.strip():
            continue
        if line[0] == "#":
            yield number, "heading", line.lstrip("# ")
        elif line[0] == "|":
            for cell in NOT_PROSE.sub("", line).split("|"):
                yield number, "text", cell.strip()
        else:
            start = start if lines else number
            lines.append(line[is_item.end():] if is_item else line.strip())


def complaints(page):
    written = GENERATED.sub(lambda match: "\n" * match[0].count("\n"), page.read_text(encoding="utf-8"))
    for start, kind, raw in blocks(written):
        text = NOT_PROSE.sub(lambda match: "\n" * match[0].count("\n"), raw)
        text = re.sub(r"^\**|(?<=[.:;?!] )\*\*", "", text)
        text = re.sub(r"[^.:;?!]*\?", lambda match: "\n" * match[0].count("\n") + "?", text)
        joined = text.replace("\n", " ")
        for pattern, complaint in DIALECT[1:] if kind == "heading" else DIALECT:
            for match in pattern.finditer(joined):
                line = start + text.count("\n", 0, match.start(1))
                yield f"{page.parent.name}/{page.name}:{line}: {complaint.format(match[1].strip())}: write it as docs/contributing.md says"


def main():
    pages = [pathlib.Path(page) for page in sys.argv[1:]]
    found = [complaint for page in pages for complaint in complaints(page)]
    print("\n".join(found) or f"{len(pages)} pages: no broken phrase")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
