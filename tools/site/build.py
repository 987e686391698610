"""Builds all pages of the site."""

import pathlib
import shutil
import tempfile

import glossary
import jinja2
import ladders
import links
import program
import results
import search
from pages import benchmarks, course, docs, ladder, landing, layouts, source
from program import Problem  # noqa: F401  (what a caller of build() catches)

HERE = pathlib.Path(__file__).resolve().parent
# The order in which styles apply; the first two are those of rung's own pages.
STYLES = [
    "tools/report/svg/picture.css",
    "tools/report/page/stepper.css",
    "tools/site/static/site.css",
    "tools/site/static/ladder.css",
    "tools/site/static/benchmarks.css",
]
SCRIPTS = [
    "tools/report/page/stepper.js",
    *(f"tools/site/static/{name}.js" for name in ("site", "ladder", "layouts", "benchmarks")),
]


class Site:
    """The sources of all pages, and the files written so far."""

    def __init__(self, project, rung, output, sample):
        self.project, self.rung, self.output, self.sample = project, rung, output, sample
        self.written = set()
        self.index = search.Index()
        self.links = links.Links(project)
        self.glossary = glossary.Glossary((project / "docs/glossary.md").read_text())
        self.folders = results.read_all(project / "results")
        self.ladders = ladders.load(project, rung, self.folders)
        loader = jinja2.FileSystemLoader(HERE / "templates")
        self.templates = jinja2.Environment(
            loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
        )

    def runs(self, name):
        """True if the virtual GPU should run this rung or exercise."""
        return self.sample is None or name in self.sample

    def page(self, path, template, **values):
        """Writes a page. `root` leads from it to the front page, under any prefix."""
        root = "../" * path.count("/")
        self.write(path, self.templates.get_template(template).render(root=root, path=path, **values))

    def write(self, path, contents):
        file = self.output / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(contents, bytes):
            file.write_bytes(contents)
        else:
            file.write_text(contents, encoding="utf-8")
        self.written.add(path)

    def copy(self, path):
        self.write(pathlib.PurePath(path).as_posix(), (self.project / path).read_bytes())


def assets(site):
    site.write("assets/site.css", "\n".join((site.project / name).read_text() for name in STYLES))
    for name in SCRIPTS:
        site.write(f"assets/{pathlib.PurePath(name).name}", (site.project / name).read_text())
    site.write("assets/search-index.js", site.index.script())


def build(project, rung, output, cache, jobs, sample=None):
    """Writes the site next to `output` first, so that a build that fails leaves the old one as it is."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f"{output.name}-") as folder:
        made = pathlib.Path(folder) / "site"
        site = Site(project, program.Rung(rung, cache, jobs), made, sample)
        for part in (ladder, course, docs, layouts, benchmarks, landing, source):
            part.make(site)
        assets(site)
        shutil.rmtree(output, ignore_errors=True)
        made.rename(output)
    return site
