"""Checks the comments of source files: check_comments.py ROOT [PATH…]

- No formatter has broken them: in a comment of several lines, a full line is not followed by an orphan, one
  or two words alone after which the sentence continues in the next line.
- In the header of a rung (ladder/OP/BACKEND/NN_slug) or a kernel (kernels/OP/BACKEND/NAME), each line begins
  one of the fields that core/rung.hpp describes, or continues it with an indent of two more spaces.
- They are plain English: no word or sentence opening of DIALECT.
- A path such as folder/file.hpp ends a path below ROOT, if a folder or a file there has that name: others are of
  other projects.

PATH: folders or files below ROOT to check instead of all of FOLDERS.
"""

import pathlib
import re
import sys

FOLDERS = [
    "CMakeLists.txt", "Makefile", "apps", "backends", "cmake", "core", "course", "emu", "include",
    "kernels", "ladder", "library", "scripts", "select", "tests", "tools", "vgpu",
]
C_SUFFIXES = {".c", ".cpp", ".cu", ".cuh", ".def", ".h", ".hpp", ".inc", ".metal"}
HASH_SUFFIXES = {".py", ".cmake", ".sh", ".toml"}
HASH_NAMES = {"CMakeLists.txt", "Makefile"}
COMMENT = re.compile(r"(\s*//+)( .*)?")
FULL = 80  # columns: a line that a formatter may have filled up
PATH = re.compile(r"(?<![\w./:<*~$}{@-])(\w[\w.-]*/)(?:[\w.-]+/)*([\w.-]+\.(?:c|cpp|hpp|h|cu|cuh|metal|inc|cmake|py|sh|md))(?![\w*/])")
FIELD = re.compile(r"// ((?:gemm|dot)/\w+/\w+: |from: |needs: )\S")

# What to write instead is in docs/contributing.md.
OPENINGS = r"Of|Than|Whether|What|Who|Whose|Whoever|Nobody|Those|That of|The same (?:where|for|of|as)|Which|How many|How much"
DIALECT = [
    (re.compile(rf"(?:^|[.;:?!] )({OPENINGS})\b(?! \w+\?)"), "a sentence that opens with '{}'"),
    (re.compile(
        r"\b(behind|at first sight|so (?:many|much|few)|anew|besides|nobody|whoever|for want of|told"
        r"|meets?|met|lies?|lay|stands? (?!for\b|alone\b|in\b)|stood|has not(?= [a-z]+[.,;])|brings?|brought"
        r"|in the place of|on its way|of which|is none|are none|there is none|hands? it)\b"), "'{}'"),
]


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


def comment_blocks(path, lines):
    """Yields (first line, text) of each run of comment lines, and of Python's docstrings."""
    marker = r"#+" if path.suffix in HASH_SUFFIXES or path.name in HASH_NAMES else r"//[/!]?<?"
    whole = re.compile(rf"\s*(?:{marker})(?: (.*))?")
    trailing = re.compile(rf".*\S\s+(?:{marker}) ([^\"]*)")
    start, texts = 0, []
    for number, line in enumerate([*lines, ""], 1):
        match = whole.fullmatch(line)
        if match:
            start = start or number
            texts.append((match[1] or "").strip())
            continue
        if texts:
            yield start, texts
            start, texts = 0, []
        match = trailing.fullmatch(line)
        if match:
            yield number, [match[1]]
    if path.suffix == ".py":
        text = "\n".join(lines)
        for match in re.finditer(r'"""(.*?)"""', text, re.DOTALL):
            yield text.count("\n", 0, match.start()) + 1, match[1].split("\n")


def dialect(path, lines):
    """(line, complaint) for every phrase of DIALECT."""
    for start, texts in comment_blocks(path, lines):
        text = "\n".join(re.sub(r"`[^`]*`|\"[^\"]*\"", "", each) for each in texts)
        joined = text.replace("\n", " ")
        for pattern, complaint in DIALECT:
            for match in pattern.finditer(joined):
                yield start + text.count("\n", 0, match.start(1)), complaint.format(match[1].strip())


def missing_paths(path, lines, known):
    """(line, path) for every path in a comment that is neither the end of one in `known` nor another project's."""
    for start, texts in comment_blocks(path, lines):
        for number, text in enumerate(texts, start):
            for match in PATH.finditer(text):
                ours = f"/{match[1]}" in known or f"/{match[2]}\n" in known
                if ours and f"/{match[0]}\n" not in known:
                    yield number, match[0]


def files(root, paths):
    for name in paths or FOLDERS:
        top = root / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            known = path.suffix in C_SUFFIXES | HASH_SUFFIXES or path.name in HASH_NAMES
            if known and path.is_file() and path.name != "check_comments.py":
                yield path


def complaints(root, paths):
    tops = [root / name for name in FOLDERS + ["docs"]]
    known = "".join(f"/{path.relative_to(root)}\n" for top in tops for path in top.rglob("*.*"))
    for path in files(root, paths):
        name = path.relative_to(root)
        lines = path.read_text(errors="replace").splitlines()
        if path.suffix in C_SUFFIXES:
            for number in orphans(lines):
                yield f"{name}:{number}: a comment with an orphaned line"
        is_rung = name.parts[0] == "ladder" and re.match(r"\d\d_", path.name)
        is_kernel = name.parts[0] == "kernels" and name.parts[1] in ("gemm", "dot")
        if path.suffix in C_SUFFIXES and (is_rung or is_kernel):
            for number in broken_header_lines(lines):
                yield f"{name}:{number}: neither a field of the header nor its continuation"
        for number, name_there in missing_paths(path, lines, known):
            yield f"{name}:{number}: {name_there} does not exist"
        for number, complaint in dialect(path, lines):
            yield f"{name}:{number}: {complaint}: write it as docs/contributing.md says"


def main():
    found = list(complaints(pathlib.Path(sys.argv[1]), sys.argv[2:]))
    print("\n".join(found) or "no broken comment")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
