"""Takes pictures, steppers and sections out of the pages that `rung explain` and `rung learn` write."""

import re
from html import unescape

import links


def section(page, name):
    """The contents of <section id=name> without its heading; empty if the page has no such section."""
    found = re.search(rf'<section id="{re.escape(name)}">\n<h2>.*?</h2>\n(.*?)</section>', page, re.S)
    return found[1] if found else ""


def figures(page):
    """All figures with access maps and tiles, in the order of the page."""
    found = re.search(
        r'<div class="figures">\n(<figure id="rung-.*?)</div>\n(?:<div class="scroll"|<table|</section>)', page, re.S
    )
    return scrolling(found[1]) if found else ""


def listings(html, language):
    """Replaces the tables of plain source by highlighted listings."""

    def listing(match):
        lines = re.findall(r"<td><code>(.*?)</code></td></tr>", match[0], re.S)
        return links.listing("\n".join(map(unescape, lines)) + "\n", language)

    return re.sub(r'<div class="scroll"[^>]*>\n<table class="source">.*?</table>\n</div>', listing, html, flags=re.S)


def scrolling(html):
    """Pictures keep a size at which their labels are readable: where that is too wide, they scroll."""

    def framed(match):
        width = float(match[2])
        return (
            f'<div class="picture-frame" tabindex="0" role="group" aria-label="Picture">'
            f'<svg style="min-width:{0.94 * width:.0f}px;max-width:{1.25 * width:.0f}px"{match[1]}'
        )

    html = re.sub(r'<svg((?: class="picture")? [^>]*?viewBox="0 0 ([\d.]+) )', framed, html)
    return html.replace("</svg>\n<figcaption>", "</svg></div>\n<figcaption>")


def stepper(page):
    """The stepper, which begins at the first access to memory."""
    html = section(page, "steps")
    html = re.sub(r"<h3>[^<]*</h3>\n(<p class=\"soft\">)", r"\1", html) if html.count('class="stepper"') == 1 else html
    return (
        html.replace('<div class="stepper" ', '<div class="stepper" data-start="access" ')
        .replace("<h4>", "<h3>")
        .replace("</h4>", "</h3>")
    )


def summary_table(page):
    """The counters of a rung's requests."""
    found = re.search(
        r'(<div class="scroll"[^>]*aria-label="On the virtual GPU.*?</div>\n)<p class="soft">(.*?)</p>', page, re.S
    )
    return (found[1].replace('<th scope="col"></th>', '<th scope="col">access</th>'), found[2]) if found else ("", "")
