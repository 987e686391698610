#!/usr/bin/env python3
"""Checks the files of a built site: every link and anchor leads somewhere, nothing is loaded from another host or from
outside the site, each page has what a screen reader needs, and the front page is small.
Skipped (exit status 77) if the site was not built because its packages are missing.

files_test.py SITE PROJECT
"""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse

LANDING_BYTES = 300_000
LOADING = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}


class Page(html.parser.HTMLParser):
    """The parts of a page that the checks read."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.headings, self.problems = [], [], [], [], []
        self.title, self.language, self.labels, self.fields = "", "", set(), []
        self.open = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADING and values.get(LOADING[tag]):
            self.loads.append(values[LOADING[tag]])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img" and "alt" not in values:
            self.problems.append(f"a picture without alt: {values.get('src')}")
        if tag == "html":
            self.language = values.get("lang", "")
        if tag in ("input", "select") and values.get("type") != "hidden":
            named = "aria-label" in values or "label" in self.open
            if not named:
                self.problems.append(f"a field without a label: {attributes}")
        if tag == "button" and not values.get("aria-label"):
            self.open.append("button without name")
        elif tag not in ("meta", "link", "img", "br", "hr", "input", "source", "col", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        for name in (tag, "button without name"):
            if name in self.open and (name == tag or tag == "button"):
                at = len(self.open) - 1 - self.open[::-1].index(name)
                if name == "button without name":
                    self.problems.append("a button without a name")
                del self.open[at:]
                return

    def handle_data(self, data):
        if "title" in self.open[-1:]:
            self.title += data
        if data.strip() and "button without name" in self.open:
            self.open[self.open.index("button without name")] = "button"


def heading_problems(headings):
    """One h1; from there on, levels go down by one at a time. A sidebar may come first."""
    if headings.count(1) != 1:
        yield f"{headings.count(1)} headings of level 1"
        return
    main = headings[headings.index(1) :]
    for before, after in zip(main, main[1:]):
        if after > before + 1:
            yield f"a heading of level {after} follows one of level {before}"


def goal_of(path, target):
    address = urllib.parse.urlsplit(target)
    file = path if not address.path else (path.parent / urllib.parse.unquote(address.path)).resolve()
    return file, urllib.parse.unquote(address.fragment)


def check_page(site, path, page, pages):
    yield from page.problems
    yield from heading_problems(page.headings)
    if not page.title.strip() or page.language != "en":
        yield "no title or no language"
    for name in {name for name in page.ids if page.ids.count(name) > 1}:
        yield f"the id {name} is not unique"
    for target in page.loads:
        if target.startswith("data:"):
            continue
        if re.match(r"[a-z]+:|//|/", target):
            yield f"loads {target}, which is not part of the site"
        elif not goal_of(path, target)[0].is_file():
            yield f"loads {target}, which does not exist"
    for target in page.links:
        if re.match(r"(https?|mailto):", target):
            continue
        file, anchor = goal_of(path, target)
        if target.startswith("/") or not file.is_file() or site not in file.parents:
            yield f"the link {target} leads nowhere"
        elif anchor and file.suffix == ".html" and anchor not in pages[file].ids:
            yield f"the link {target} leads to no part of that page"


def check_styles(site):
    for path in site.rglob("*.css"):
        for target in re.findall(r"url\(([^)]*)\)|@import ([^;]*)", path.read_text()):
            yield f"{path.name} loads {target}"


def landing_bytes(site, page):
    """The front page with everything that it loads."""
    return sum((site / name).stat().st_size for name in ["index.html", *page.loads] if not name.startswith("data:"))


def search_problems(site):
    """Every result of the search exists."""
    text = (site / "assets/search-index.js").read_text()
    entries = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    if len(entries) < 200:
        yield f"the search knows only {len(entries)} parts of pages"
    for kind, url, title, *_ in entries:
        if not (site / url.split("#")[0]).is_file():
            yield f"the search leads {kind} {title} to {url}, which does not exist"


def check_contents(site, project):
    """A page for each rung, chapter and page of docs/, with what it is about."""
    for path in project.glob("ladder/*/*/[0-9][0-9]_*"):
        page = site / path.relative_to(project).with_suffix(".html")
        if not page.is_file() or 'table class="source' not in page.read_text():
            yield f"{path.relative_to(project)} has no page with its source"
    for path in project.glob("course/[0-9]*/README.md"):
        if not (site / f"course/{path.parent.name}.html").is_file():
            yield f"{path.relative_to(project)} has no page"
    for path in [*project.glob("docs/*.md"), *project.glob("docs/notes/*.md")]:
        if path.name != "README.md" and not (site / path.relative_to(project).with_suffix(".html")).is_file():
            yield f"{path.relative_to(project)} has no page"
    for path in project.glob("results/*/*.jsonl"):
        if not (site / path.relative_to(project)).is_file():
            yield f"{path.relative_to(project)} is not there as it is"
    rung = (site / "ladder/gemm/cuda/05_vectors.html").read_text()
    for part in (
        'id="map"',
        'id="steps"',
        'id="bound"',
        "TFLOP/s",
        'class="count share"',
        "<ins>",
        "<del>",
        'rel="next"',
        'rel="prev"',
    ):
        if part not in rung:
            yield f"the page of a rung lacks {part}"
    chapter = (site / "course/03_coalesced.html").read_text()
    for part in (
        'id="goals"',
        'id="hints"',
        'solution.cu.html"',
        'class="stepper"',
        'class="term"',
        "<svg",
        'id="about-word-warp"',
    ):
        if part not in chapter:
            yield f"the page of a chapter lacks {part}"
    if "const int row = blockIdx.y * BM + threadIdx.y;" in re.sub(r"<[^>]*>", "", chapter):
        yield "the page of a chapter shows the solution"


def main():
    site, project = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    if not (site / "index.html").is_file():
        print("skipped: the site is not built, see site.build")
        return 77
    pages = {path: Page(path) for path in site.rglob("*.html")}
    problems = [
        f"{path.relative_to(site)}: {what}"
        for path, page in sorted(pages.items())
        for what in check_page(site, path, page, pages)
    ]
    problems += [*check_styles(site), *search_problems(site), *check_contents(site, project)]
    size = landing_bytes(site, pages[site / "index.html"])
    if size > LANDING_BYTES:
        problems.append(f"the front page takes {size} bytes; at most {LANDING_BYTES} are allowed")
    print("\n".join(problems[:40]) or f"{len(pages)} pages; the front page takes {size} bytes")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
