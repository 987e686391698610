"""Where a link of a Markdown page leads on the site. No link leaves it, except those that name another host."""

import os
import pathlib
import re

import colours

SOURCES = {
    ".cu",
    ".cuh",
    ".cpp",
    ".hpp",
    ".h",
    ".c",
    ".py",
    ".sh",
    ".metal",
    ".inc",
    ".def",
    ".txt",
    ".cmake",
    ".json",
    ".md",
    "",
}


class Links:
    """Maps paths of the project to pages, and records the files that must be copied or shown as source."""

    def __init__(self, project):
        self.project = project
        self.images = set()
        self.sources = set()
        self.raw = set()

    def page_of(self, path):
        """The page that shows a path of the project; None if no page does."""
        name = path.as_posix()
        if name == "README.md":
            return "docs/readme.html"
        if name in ("course", "course/README.md"):
            return "course/index.html"
        if found := re.fullmatch(r"course/(\d\d_\w+)(/README.md)?", name):
            return f"course/{found[1]}.html"
        if found := re.fullmatch(r"docs/((?:notes/)?[\w-]+)\.md", name):
            return "docs/index.html" if found[1] == "README" else f"docs/{found[1]}.html"
        if found := re.fullmatch(r"ladder/(\w+/\w+)/(\d\d_\w+)\.\w+", name):
            return f"ladder/{found[1]}/{found[2]}.html"
        if found := re.fullmatch(r"ladder(/\w+/\w+)?", name):
            return f"ladder{found[1] or ''}/index.html"
        if name == "docs":
            return "docs/index.html"
        if name == "results" or re.fullmatch(r"results/[\w-]+", name):
            return "benchmarks/index.html"
        return self.copy_of(path, name)

    def copy_of(self, path, name):
        whole = self.project / path
        if not whole.is_file():
            return None
        if whole.suffix in (".jsonl", ".svg", ".png"):
            self.raw.add(path)
            return name
        self.sources.add(path)
        return f"source/{name}.html"

    def resolve(self, page, target):
        """The link's target relative to the page's place on the site."""
        if re.match(r"[a-z][a-z+.-]*:", target) or target.startswith("#"):
            return target
        path, _, anchor = target.partition("#")
        goal = self.page_of(normal(page.parent / path))
        return None if goal is None else relative(self.page_of(page), goal) + (f"#{anchor}" if anchor else "")

    def image(self, page, target):
        path = normal(page.parent / target)
        if not (self.project / path).is_file():
            raise FileNotFoundError(f"{page}: the picture {target} does not exist")
        self.images.add(path)
        return relative(self.page_of(page), path.as_posix())


def normal(path):
    return pathlib.PurePosixPath(os.path.normpath(path))


def relative(from_page, to):
    return os.path.relpath(to, os.path.dirname(from_page) or ".").replace(os.sep, "/")


def listing(text, language, name=""):
    """Numbered, highlighted lines; with a name, a link can lead to each."""
    rows = []
    for number, line in enumerate(colours.lines(text, language), 1):
        anchor = f' id="{name}{number}"' if name else ""
        rows.append(f"<span{anchor}><b>{number}</b>{line}\n</span>")
    return f'<pre class="listing" tabindex="0" aria-label="Source"><code>{"".join(rows)}</code></pre>'
