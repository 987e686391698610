"""The ladders, and a page for each rung."""

import json

import charts
import difference
import parts
import results
import units


def make(site):
    started = {step.id: start(site, ladder, step) for ladder in site.ladders for step in ladder.steps}
    for ladder in site.ladders:
        for at, step in enumerate(ladder.steps):
            rung_page(site, ladder, at, {name: future.result() for name, future in started[step.id].items()})
    for ladder in site.ladders:
        ladder_page(site, ladder)
    overview(site)


def start(site, ladder, step):
    """Starts the programs whose results a rung's page shows."""
    if not step.on_gpu or not site.runs(step.id):
        return {}
    size = ["--n", "256"] if ladder.op == "gemm" else []
    of_type = ["--dtype", step.dtype]
    return {
        "trace": site.rung.start("trace", step.id, *size, *of_type, "--json", "-"),
        "explained": site.rung.start(
            "explain", step.id, "--no-hardware", *of_type, "--json", "-", "--html", "page.html", makes="page.html"
        ),
    }


def url(step):
    return f"ladder/{step.id}.html"


def rung_page(site, ladder, at, found):
    step = ladder.steps[at]
    before = ladder.before(step)
    trace = json.loads(found["trace"]) if found.get("trace") else None
    lines = [line for kernel in trace["kernels"] for line in kernel["lines"]] if trace else []
    explained, page = found.get("explained") or ("", "")
    rows = difference.rows(step, before, lines)
    study = ladder.study_of(step)
    table, sample = parts.summary_table(page)
    site.page(
        url(step),
        "rung.html",
        section="ladder",
        title=step.title,
        ladder=ladder,
        step=step,
        before=before,
        measured=measured(step, study),
        rows=rows,
        size=difference.lines_changed(step, before),
        trace=trace,
        others=difference.header_lines(lines, step.path.name),
        figures=parts.figures(page),
        stepper=parts.stepper(page),
        counters=table,
        sample=sample,
        facts=facts(explained),
        url=url,
        previous=ladder.steps[at - 1] if at else None,
        next=ladder.steps[at + 1] if at + 1 < len(ladder.steps) else None,
    )
    site.index.add(
        "Rung",
        url(step),
        f"{step.id}",
        f"{step.title}. {step.idea} Removes {step.header['removes']}. Bottleneck: {step.header['bottleneck']}",
    )


def measured(step, study):
    if study is None:
        return None
    result = study.rows[step.id]
    rate, limit = results.value(result), results.ceiling(result)
    first = next(results.value(row) for row in study.rows.values())
    return {
        "rate": charts.show(result, rate),
        "time": units.seconds(result["seconds"]["median"]),
        "size": units.size(result),
        "of_ceiling": units.percent(rate / limit) if limit else None,
        "peers": [(charts.PEERS.get(name, name), units.percent(ratio)) for name, _, ratio in results.peers(result)],
        "previous": units.times(result["previous"]["ratio"]) if result.get("previous", {}).get("ratio") else None,
        "first": units.times(rate / first),
        "dtype": study.dtype,
        "file": study.file.path.as_posix(),
    }


def facts(text):
    """The minimum times of the parts of the machine, and what to do next, of `rung explain`."""
    if not text:
        return None
    explained = json.loads(text)
    roof = explained["roofline"]
    levels = [level for level in roof["levels"] if level.get("seconds")]
    longest = max([level["seconds"] for level in levels] + [roof.get("measured_seconds") or 0])
    if not levels:
        return None
    return {
        "levels": [
            {
                "name": level["name"],
                "time": units.seconds(level["seconds"]),
                "part": level["seconds"] / longest,
                "is_bound": level["name"] == roof["bound"],
            }
            for level in levels
        ],
        "bound": roof["bound"],
        "seconds": units.seconds(roof["seconds"]),
        "device": explained["device"].removeprefix("virtual "),
        "problem": f"{explained['dtype']} {units.size(explained)}",
        "measured": units.seconds(roof["measured_seconds"]) if roof.get("measured_seconds") else None,
        "measured_part": (roof.get("measured_seconds") or 0) / longest,
        "share": units.percent(roof["ratio"]) if roof.get("ratio") else None,
        "advice": explained["advice"] or [],
        "occupancy": explained.get("occupancy"),
    }


def ladder_page(site, ladder):
    path = f"ladder/{ladder.name}/index.html"
    site.page(path, "ladder.html", **ladder_values(site, ladder))
    site.index.add("Ladder", path, ladder.title, ladder.summary)


def ladder_values(site, ladder):
    shown = [charts.bars(ladder, study, url) for study in ladder.studies]
    return {
        "section": "ladder",
        "title": ladder.title,
        "ladder": ladder,
        "charts": shown,
        "ladders": site.ladders,
        "url": url,
        "sizes": {step.id: difference.lines_changed(step, ladder.before(step)) for step in ladder.steps},
    }


def overview(site):
    cards = [
        {"ladder": ladder, "chart": charts.bars(ladder, ladder.studies[0], url) if ladder.studies else None}
        for ladder in site.ladders
    ]
    site.page("ladder/index.html", "ladders.html", section="ladder", title="The ladders", cards=cards, url=url)
