"""The pages of docs/, with a sidebar. docs/README.md, where there is one, gives its groups."""

import itertools
import re

import glossary
import prose
from links import normal, relative


def make(site):
    sources = {path.stem: path for path in sorted((site.project / "docs").glob("*.md")) if path.stem != "README"}
    sources["readme"] = site.project / "README.md"
    notes = {f"notes/{path.stem}": path for path in sorted((site.project / "docs/notes").glob("*.md"))}
    groups = groups_of(site, sources, notes)
    titles = {name: title_of(path) for name, path in {**sources, **notes}.items()}
    titles["readme"] = "Overview"
    for name, path in {**sources, **notes}.items():
        docs_page(site, name, path, groups, titles)
    index_page(site, groups, titles, {**sources, **notes})


def title_of(path):
    return re.sub(r"[`*]", "", path.read_text().splitlines()[0].lstrip("# "))


def groups_of(site, sources, notes):
    """Group titles and the names of their pages. Pages that no group names are in the last one."""
    index = site.project / "docs/README.md"
    known = {**sources, **notes}
    listed = columns(index.read_text()) if index.exists() else []
    groups = [("Start", ["readme"])] + [(title, [name for name in names if name in known]) for title, names in listed]
    named = {name for _, names in groups for name in names}
    rest = [
        ("Pages", [name for name in sources if name not in named]),
        ("Notes", [name for name in notes if name not in named]),
    ]
    return [group for group in merged(groups + rest) if group[1]]


def columns(text):
    """The headings of the first table, and the pages to which the cells below each of them link."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    cells = itertools.zip_longest(*rows[2:], fillvalue="")
    return [
        (title, re.findall(r"\]\(([\w/-]+)\.md", " ".join(column)))
        for title, column in zip(rows[0] if rows else [], cells)
    ]


def merged(groups):
    """One group for each title."""
    found = {}
    for title, names in groups:
        found.setdefault(title, []).extend(names)
    return list(found.items())


def docs_page(site, name, path, groups, titles):
    source = normal(path.relative_to(site.project).as_posix())
    url = site.links.page_of(source)
    terms = glossary.Terms(site.glossary, relative(url, "docs/glossary.html")) if name != "glossary" else None
    page = prose.render(path.read_text(), source, site.links, Linked(terms) if terms else None)
    body = glossary.anchored(page.html) if name == "glossary" else page.html
    index_of(site, name, url, page)
    order = [entry for _, names in groups for entry in names]
    at = order.index(name)
    site.page(
        url,
        "doc.html",
        section="docs",
        title=titles[name],
        body=body,
        groups=groups,
        titles=titles,
        current=name,
        headings=[heading for heading in page.headings if heading[0] <= 3],
        definitions=terms.definitions() if terms else "",
        previous=order[at - 1] if at else None,
        next=order[at + 1] if at + 1 < len(order) else None,
    )


class Linked:
    """Marks only the words that a page links to the glossary, none by itself."""

    def __init__(self, terms):
        self.terms = terms

    def mark(self, token, _tokens):
        for child in token.children:
            if child.type == "link_open":
                self.terms.mark_link(child, token.children)


def index_of(site, name, url, page):
    if name != "glossary":
        return site.index.add_page("Docs", url, page)
    for word in site.glossary.entries:
        site.index.add("Word", f"{url}#{glossary.anchor(word)}", word, site.glossary.definition(word))
    return None


def first_sentence(path):
    """The first sentence of a page's first paragraph, in plain text."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", path.read_text(), flags=re.S)
    for paragraph in text.split("\n\n")[1:]:
        if paragraph.strip() and not paragraph.lstrip().startswith(("#", "|", "-", "!", ">", "1.")):
            plain = (
                re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(paragraph.split())).replace("`", "").replace("**", "")
            )
            return re.split(r"(?<=[.:]) (?=[A-Z])", plain)[0].rstrip(":").rstrip(".") + "."
    return ""


def index_page(site, groups, titles, sources):
    about = {name: first_sentence(path) for name, path in sources.items()}
    site.page(
        "docs/index.html", "docs.html", section="docs", title="Documentation", groups=groups, titles=titles, about=about
    )
