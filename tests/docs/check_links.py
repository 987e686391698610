"""Checks that the targets of links and paths in Markdown pages exist: check_links.py ROOT PAGE…

A relative link must lead to a file or folder, relative to its page, and one with a # to a heading of that page.
A path in `code` must exist, relative to the root, to one of the include folders or to the page, if it begins with
a folder of the project or ends like a source file. Paths below build/ are ignored.
"""

import collections
import pathlib
import re
import sys

INCLUDE_FOLDERS = ["", "include", "kernels", "tools"]
SOURCE_FILE = re.compile(r"\.(c|h|cpp|hpp|cmake|inc|in|jsonl?|md|py|sh|txt)$")


def text_of(page):
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def anchors(page):
    """Yields the anchors of the headings, as GitHub makes them; repeated headings are numbered."""
    times = collections.Counter()
    for heading in re.findall(r"^#+ +(.*?) *$", text_of(page), flags=re.MULTILINE):
        plain = re.sub(r"\]\([^)]*\)", "]", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        yield f"{name}-{times[name]}" if times[name] else name
        times[name] += 1


def missing(root, page):
    text = text_of(page)
    for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = page.parent / path if path else page
        if not goal.exists():
            yield path
        elif anchor and goal.suffix == ".md" and anchor not in anchors(goal):
            yield target

    folders = {path.name for path in root.iterdir() if path.is_dir()} - {"build"}
    for code in re.findall(r"`([^`\s]+)`", text):
        is_path = re.fullmatch(r"[\w.*-]+(/[\w.*-]+)+/?", code) and not code.startswith("build/")
        if is_path and (code.split("/")[0] in folders or SOURCE_FILE.search(code)):
            starts = [root / folder for folder in INCLUDE_FOLDERS] + [page.parent]
            if not any(list(start.glob(code.rstrip("/"))) for start in starts):
                yield code


def main():
    root = pathlib.Path(sys.argv[1])
    pages = [pathlib.Path(page) for page in sys.argv[2:]]
    broken = [
        f"{page.parent.name}/{page.name}: {what} does not exist" for page in pages for what in missing(root, page)
    ]
    print("\n".join(broken) or f"{len(pages)} pages: every link and path leads somewhere")
    return 1 if broken or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
