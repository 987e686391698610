"""The files of the project to which pages link: pictures and results as they are, sources as pages."""

import links


def make(site):
    for path in sorted(site.links.sources):
        text = (site.project / path).read_text(errors="replace")
        page = site.links.page_of(path)
        site.page(
            page,
            "source.html",
            title=path.name,
            name=path.as_posix(),
            body=links.listing(text, path.suffix.lstrip(".") or "text", "L"),
            section="docs",
        )
    for path in sorted(site.links.images | site.links.raw):
        site.copy(path)
