"""Checks that no formatter has broken the comments of source files: check_comments.py ROOT

- In a comment of several lines, a full line is not followed by an orphan: one or two words alone,
  after which the sentence goes on in the next line.
- In the header of a rung (kernels/OP/BACKEND/NN_slug), each line begins one of the parts that
  src/core/rung.hpp describes, or continues it with an indent of two more spaces.
"""

import pathlib
import re
import sys

FOLDERS = ["apps", "include", "kernels", "src", "tests"]
SUFFIXES = {".c", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inc", ".metal"}
COMMENT = re.compile(r"(\s*//+)( .*)?")
FULL = 80  # columns: a line that a formatter may have filled up
FIELD = re.compile(r"// (\S+/\d\d_\w+: |from: |needs: )\S")


def is_orphan(before, line, after):
    """Of three neighbouring lines, each a pair of its comment marker and its text."""
    if not before[0] == line[0] == after[0]:
        return False
    words = line[1].split()
    ends = bool(re.search(r"[.:;!?]$", line[1]))
    goes_on = re.match(r" +[a-z0-9(]", after[1]) and not FIELD.match("".join(after))
    is_full = len(before[0] + before[1]) >= FULL
    return bool(is_full and len(words) in (1, 2) and not ends and goes_on)


def orphans(lines):
    """The numbers of orphaned lines."""
    matches = [COMMENT.fullmatch(line) for line in lines]
    pairs = [(match[1], match[2] or "") if match else (None, "") for match in matches]
    for i in range(1, len(pairs) - 1):
        if pairs[i][0] and is_orphan(*pairs[i - 1 : i + 2]):
            yield i + 1


def broken_header_lines(lines):
    for number, line in enumerate(lines, 1):
        if not line.startswith("//"):
            return
        if not FIELD.match(line) and not re.match(r"//   \S", line):
            yield number


def complaints(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            lines = path.read_text(errors="replace").splitlines()
            for number in orphans(lines):
                yield f"{path.relative_to(root)}:{number}: a comment with an orphaned line"
            if folder == "kernels" and re.match(r"\d\d_", path.name):
                for number in broken_header_lines(lines):
                    yield f"{path.relative_to(root)}:{number}: neither a field of the header nor its continuation"


def main():
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "no broken comment")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
