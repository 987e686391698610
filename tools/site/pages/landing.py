"""The front page: a sentence, the ladder, a demonstration, three doors, and figures that hide nothing."""

import re

import charts
import colours
import results

from . import benchmarks
from .ladder import url

TYPES = ["f32", "bf16", "f64", "e4m3", "i8"]
DEVICE = "nvidia-h200"


def make(site):
    ladder = site.ladders[0]
    shown = [charts.bars(ladder, study, url) for study in ladder.studies[:2]]
    site.page(
        "index.html",
        "landing.html",
        section="",
        title="Rung",
        charts=shown,
        ladder=ladder,
        demo=demo(site),
        table=honest(site),
        device=results.name_of(site.folders[DEVICE]) if DEVICE in site.folders else "",
        chapters=len(list((site.project / "course").glob("[0-9]*_*"))),
        rungs=sum(len(found.steps) for found in site.ladders),
        sizes=benchmarks.SIZES,
    )
    site.index.add(
        "Start", "index.html", "Rung", "GEMM and the dot product as ladders of kernels, a virtual GPU and a library"
    )


def demo(site):
    """The racy kernel, and what `rung emu` prints about it; None if this machine has no clang for it."""
    program = site.project / "examples/race.cu"
    printed = site.rung.run("emu", program.name, inputs=(program,), allowed=(0, 1))
    if printed is None:
        return None
    source = program.read_text().splitlines()
    first = next(at for at, line in enumerate(source) if line.startswith("__global__"))
    kernel = source[first : source.index("}", first) + 1]
    report = first_report(printed.splitlines())
    at = {int(line) for line in re.findall(rf"{re.escape(program.name)}:(\d+)", " ".join(report))}
    lines = colours.lines("\n".join(kernel) + "\n", "cuda")
    return {"lines": list(enumerate(lines, first + 1)), "marked": at, "report": report}


def first_report(lines):
    """The first report with what to do about it, and the last line, which says how many hazards there are."""
    first = next(at for at, line in enumerate(lines) if line.startswith("shared-memory race"))
    last = next((at for at in range(first + 1, len(lines)) if not lines[at].startswith(" ")), len(lines))
    return lines[first:last] + [line for line in lines[last:] if line.startswith("rung emu") and "hazard" in line]


def honest(site):
    """The library at two sizes and on random shapes, against the fastest peer, for each type."""
    rows = []
    files = site.folders.get(DEVICE, [])
    fixed, drawn = benchmarks.fixed_rows(files), benchmarks.random_rows(files)
    for dtype in TYPES:
        ratios = [row["ratio"] for row in drawn if row["dtype"] == dtype]
        at = [
            next((row for row in fixed if row["dtype"] == dtype and row["size"] == f"{size}³"), None)
            for size in benchmarks.SIZES
        ]
        if ratios or any(at):
            rows.append({"dtype": dtype, "at": at, "random": results.summary(ratios) if ratios else None})
    return rows
