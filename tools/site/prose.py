"""Markdown to HTML: heading anchors as GitHub makes them, highlighted code, links to the site's own pages."""

import collections
import dataclasses
import html
import re

import colours
from markdown_it import MarkdownIt


@dataclasses.dataclass
class Page:
    title: str
    html: str
    headings: list  # (level, anchor, text)
    sections: list  # (anchor, title, plain text) for the search


def anchor_of(text, seen):
    name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    times = seen[name]
    seen[name] += 1
    return f"{name}-{times}" if times else name


def plain(token):
    return "".join(
        child.content for child in token.children or [] if child.type in ("text", "code_inline", "softbreak")
    )


def render(text, page, links, terms=None):
    """Renders Markdown. `page`: path of the source; `links` maps targets; `terms` marks words of the glossary."""
    markdown = MarkdownIt("commonmark", {"html": True, "highlight": highlight}).enable(["table", "strikethrough"])
    tokens = markdown.parse(re.sub(r"<!--.*?-->\n?", "", text, flags=re.S))
    headings = name_headings(tokens)
    body_of_title(tokens)
    for token in tokens:
        if token.type == "inline":
            link_targets(token, page, links)
            if terms is not None:
                terms.mark(token, tokens)
    body = markdown.renderer.render(tokens, markdown.options, {})
    title = headings[0][2] if headings else page.stem
    return Page(title, frame_tables(body), headings[1:], sections_of(tokens, headings))


def highlight(source, language, _attributes):
    return colours.block(source, language)


def name_headings(tokens):
    seen = collections.Counter()
    headings = []
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            text = plain(tokens[at + 1])
            anchor = anchor_of(text, seen)
            token.attrSet("id", anchor)
            headings.append((int(token.tag[1]), anchor, text))
    return headings


def body_of_title(tokens):
    """Drops the first heading, which the page's template shows."""
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        del tokens[:3]


def link_targets(token, page, links):
    closing = []
    for child in token.children:
        if child.type == "link_open":
            target = links.resolve(page, child.attrGet("href"))
            closing.append(target is None)
            if target is None:  # a folder: no page shows it
                child.type, child.tag, child.attrs = "html_inline", "", {}
                child.content = ""
            else:
                child.attrSet("href", target)
        elif child.type == "link_close" and closing.pop():
            child.type, child.content = "html_inline", ""
        elif child.type == "image":
            child.attrSet("src", links.image(page, child.attrGet("src")))
            child.attrSet("loading", "lazy")


def frame_tables(body):
    """Puts each table in a box that scrolls, and makes header cells without text plain cells."""
    body = re.sub(r"<th( [^>]*)?></th>", "<td></td>", body)
    body = body.replace("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n<table>')
    return body.replace("</table>", "</table>\n</div>")


def sections_of(tokens, headings):
    """The plain text below each heading."""
    named = {anchor: text for _, anchor, text in headings}
    current = ["", headings[0][2] if headings else "", []]
    found = [current]
    for token in tokens:
        if token.type == "heading_open":
            anchor = token.attrGet("id")
            current = [anchor, named[anchor], []]
            found.append(current)
        elif token.type == "inline":
            current[2].append(plain(token))
        elif token.type == "fence":
            current[2].append(token.content)
    return [(anchor, title, " ".join(" ".join(text).split())) for anchor, title, text in found]


def escape(text):
    return html.escape(text, quote=True)
