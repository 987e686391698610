"""The course: a page for each chapter, with the exercise, its picture and the steps of its solution."""

import re

import glossary
import parts
import prose
from links import normal, relative

# Sections of the page that `rung learn --html` writes, and their titles here. The solution has a page of its own,
# that of its source.
SECTIONS = [("goals", "Goals"), ("hints", "Hints"), ("start", "The file to complete")]


def make(site):
    folders = sorted(path.parent for path in (site.project / "course").glob("[0-9][0-9]_*/README.md"))
    started = {
        folder: site.rung.start("learn", folder.name[:2], "--html", "-") for folder in folders if site.runs(folder.name)
    }
    chapters = [
        {"folder": folder, "url": f"course/{folder.name}.html", "title": title_of(folder), "number": folder.name[:2]}
        for folder in folders
    ]
    parts_of_course = listed(site, chapters)
    for at, chapter in enumerate(chapters):
        exercise = started[chapter["folder"]].result() if chapter["folder"] in started else None
        chapter_page(site, chapters, parts_of_course, at, exercise)
    index_page(site, parts_of_course)


def title_of(folder):
    heading = (folder / "README.md").read_text().splitlines()[0].lstrip("# ")
    return re.sub(r"^\d+\. ", "", heading)


def listed(site, chapters):
    """The headings of course/README.md that list chapters, with these; the rest under "More"."""
    found, left = [], {chapter["folder"].name: chapter for chapter in chapters}
    for part in re.split(r"^## ", (site.project / "course/README.md").read_text(), flags=re.M)[1:]:
        names = [name for name in re.findall(r"\]\((\d\d_\w+)/README\.md\)", part) if name in left]
        if names:
            found.append((part.splitlines()[0].removeprefix("The ").capitalize(), [left.pop(name) for name in names]))
    return found + ([("More", list(left.values()))] if left else [])


def chapter_page(site, chapters, sections, at, exercise):
    chapter = chapters[at]
    source = normal(f"course/{chapter['folder'].name}/README.md")
    terms = glossary.Terms(site.glossary, "../docs/glossary.html")
    page = prose.render((site.project / source).read_text(), source, site.links, terms)
    site.index.add_page("Course", chapter["url"], page)
    site.page(
        chapter["url"],
        "chapter.html",
        section="course",
        title=chapter["title"],
        chapter=chapter,
        sections=sections,
        body=inline_picture(site, page.html, chapter["folder"]),
        headings=page.headings,
        definitions=terms.definitions(),
        exercise=exercise_of(exercise),
        stepper=parts.stepper(exercise or ""),
        previous=chapters[at - 1] if at else None,
        next=chapters[at + 1] if at + 1 < len(chapters) else None,
    )


def inline_picture(site, body, folder):
    """Puts the picture's SVG into the page, where it keeps readable labels; it scrolls where the screen is narrow."""
    file = folder / "picture.svg"
    site.links.images.discard(normal(f"course/{folder.name}/picture.svg"))
    if not file.exists():
        return body
    picture = re.sub(r"<style>.*?</style>\n?", "", file.read_text(), flags=re.S)
    picture = re.sub(r'<svg xmlns="[^"]*" width="[^"]*" height="[^"]*"', "<svg", picture)
    figure = parts.scrolling(f"<figure>{picture.rstrip()}</figure>").replace("</svg></figure>", "</svg></div></figure>")
    return re.sub(r'<p><img src="[^"]*picture\.svg"[^>]*></p>', lambda _: figure, body)


def exercise_of(page):
    if not page:
        return []
    found = [(name, title, parts.section(page, name)) for name, title in SECTIONS]
    return [
        (name, title, parts.listings(html, "cuda").replace("<h3>", "<h4>").replace("</h3>", "</h4>"))
        for name, title, html in found
        if html
    ]


def index_page(site, sections):
    source = normal("course/README.md")
    page = prose.render((site.project / source).read_text(), source, site.links)
    site.index.add_page("Course", "course/index.html", page)
    site.page(
        "course/index.html",
        "course.html",
        section="course",
        title="The course",
        sections=sections,
        body=lists_dropped(page.html),
        relative=relative,
    )


def lists_dropped(body):
    """The page lists the chapters itself, so the README's tables of them go."""
    return re.sub(
        r'<h2 id="[^"]*">(?:(?!<h2).)*?href="\d\d_\w+\.html"(?:(?!<h2).)*?</table>\n</div>\n?', "", body, flags=re.S
    )
