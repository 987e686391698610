#!/usr/bin/env python3
"""Fills the tables of README.md and docs/*.md from the JSON that `rung bench --json` wrote.

A table is between `<!-- table: RESULTS KIND -->` and `<!-- end of table -->`. RESULTS names the file
results/*/RESULTS.json; write FOLDER/RESULTS if several machines have one. KIND is one of

  machine   what it was measured on: one paragraph
  ladder    every rung, at the largest square size at which each of them was timed
  library   the library's choice at every size, against each peer
  summary   a row for each of several files, RESULTS being their names with commas between them:
            the geometric mean over its sizes against each peer
  products  of several files, too: every product of the library that does more than one plain product,
            against each peer, and where it has an epilogue, scales or packed weights, against the
            plain product of the rung that was timed beside it; in packed weights, how its rate of
            reading compares with that of reading alone
  random    draws of random shapes (rung bench --random): a row for each type, number of threads
            and largest size, or on a GPU for each type and layout; RESULTS may be a pattern, such as
            FOLDER/random-*
  reading   the library on matrix times vector, beside the rate of reading from DRAM

Without arguments, rewrites the pages. With --check, only names the stale tables in one line, and
exits with 1.
"""

import argparse
import json
import pathlib
import re
import sys

from bench_entries import (
    by_form,
    device_seconds,
    geometric_mean,
    is_square,
    markdown,
    mean_of,
    of_ceiling,
    of_library,
    of_peer,
    on_device,
    percent,
    Problem,
    quantile,
    rate,
    ratio,
    size_of,
    slug,
    unit,
    volume,
)

BLOCK = re.compile(r"(<!-- table: (\S+) (\S+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
NOT_MEASURED = "Not measured yet.\n"


def load(results, name):
    """The JSON of a table, or None if there is no such file."""
    pattern = name if "/" in name else f"*/{name}"
    found = sorted(results.glob(pattern + ".json"))
    if len(found) > 1:
        folders = ", ".join(path.parent.name for path in found)
        raise Problem(f"table {name}: several machines have one; write FOLDER/{name}, of {folders}")
    return json.loads(found[0].read_text()) if found else None


# The kinds of tables.


def where(here, first):
    """The device, and on a CPU its threads."""
    if first["device"].startswith("gpu"):
        gpu = here["gpu"]
        return (
            f"{gpu['name']} ({gpu['multiprocessors']} SMs, at most {gpu['max_clock_mhz']} MHz, "
            f"{gpu['power_limit_watts']:.0f} W), driver {gpu['driver']}, CUDA {gpu['cuda']}, {first['dtype']}"
        )
    threads = f"{first['threads']} thread{'' if first['threads'] == 1 else 's'}"
    return f"{here['model']} ({here['isa']}, {here['cores']} cores), {first['dtype']}, {threads}"


def machine(data):
    here = data["machine"]
    first = data["results"][0]
    said = "note" if first["device"].startswith("gpu") else "kernels"
    peers = "; ".join(
        f"{name} {peer['version']} ({peer[said]})" for name, peer in here["peers"].items()
    )
    return (
        f"{where(here, first)}, "
        f"{first['operands']} operands; {here['os']}; {here['compiler']}. "
        f"Peers: {peers or 'none'}. rung {here['version']} at commit {here['commit']}, {here['date'][:10]}.\n"
    )


def ladder(data):
    rungs = [entry for entry in data["results"] if entry["rung"] != "library"]
    by_size = {}
    for entry in rungs:
        if is_square(entry):
            by_size.setdefault(size_of(entry), []).append(entry)
    complete = [
        entries for entries in by_size.values() if all(entry["seconds"] for entry in entries)
    ]
    if not complete:
        raise Problem("no square size at which every rung was timed")
    entries = max(complete, key=lambda entries: volume(entries[0]))
    key, name = unit(entries[0])
    rows = []
    for entry in entries:
        previous = entry.get("previous")
        gain = f"{ratio(previous['ratio'])} vs {slug(previous['rung'])[:2]}" if previous else "–"
        ceiling = of_ceiling(entry)
        rows.append([slug(entry["rung"]), rate(entry[key]), gain, ceiling])
    return markdown([f"rung, at {size_of(entries[0])}", name, "speed-up", "of the ceiling"], rows)


def library(data):
    entries, peers = of_library(data)
    key, name = unit(entries[0])
    rows = []
    for entry in entries:
        if not entry["seconds"]:
            raise Problem(f"the library was not timed at {size_of(entry)}")
        ratios = [ratio(of_peer(entry, peer)) for peer in peers]
        ceiling = of_ceiling(entry)
        rows.append([size_of(entry), slug(entry["chose"]), rate(entry[key]), ceiling, *ratios])

    for label, group in by_form(entries).items():
        if len(group) < 2:
            continue
        means = [f"**{ratio(mean_of(group, peer))}**" for peer in peers]
        kind = label + ", " if entries[0]["op"] == "gemm" else ""
        rows.append([f"**{kind}geometric mean**", "", "", "", *means])
    return markdown(["size", "rung", name, "of the ceiling", *(f"vs {p}" for p in peers)], rows)


def summary_row(data):
    entries, peers = of_library(data)
    first = entries[0]
    on_gpu = first["device"].startswith("gpu")
    threads = "" if on_gpu else f", {first['threads']} thread{'s'[: first['threads'] > 1]}"
    ceilings = [entry["ceiling"]["ratio"] for entry in entries if "ceiling" in entry]

    def means(group):
        found = [(peer, mean_of(group, peer)) for peer in peers]
        return ", ".join(f"{ratio(mean)} vs {peer}" for peer, mean in found if mean) or "–"

    return [
        f"{first['op']} {first['dtype']}{threads}",
        data["machine"]["gpu"]["name"] if on_gpu else data["machine"]["model"],
        percent(max(ceilings)) if ceilings else "–",
        *map(means, by_form(entries).values()),
    ]


def summary(several):
    headings = ["library", "device", "of the ceiling, at best", "square sizes", "oblong sizes"]
    rows = [summary_row(data) for data in several]
    return "".join(
        "| " + " | ".join(line) + " |\n" for line in [headings, ["---"] * len(headings), *rows]
    )


def alone(data, entry):
    """The plain product's time over that of the library's; None if there is no such comparison."""
    if not any(part in entry for part in ("epilogue", "weights", "scales")):
        return None
    for other in data["results"]:
        is_same = all(other[extent] == entry[extent] for extent in "mnk")
        if other["rung"] != "library" and is_same and other["seconds"]:
            return device_seconds(other) / device_seconds(entry)
    return None


def what_of(entry):
    """What makes a product more than a plain one, as the options of rung bench have it."""
    parts = [entry["dtype"]]
    if "batch" in entry:
        parts.append(f"batch {entry['batch']}")
    if "groups" in entry:
        parts.append(f"{entry['groups']} groups, skew {entry['skew']}")
    parts += [entry[key] for key in ("epilogue", "weights") if key in entry]
    if "scales" in entry:
        parts.append(f"scales {entry['scales']}")
    if entry["math"] != "standard":
        parts.append(entry["math"])
    return ", ".join(parts)


def against(peers, ratios):
    return ", ".join(f"{ratio(one)} {peer}" for peer, one in zip(peers, ratios) if one) or "–"


def products(several):
    lines = []
    for data in several:
        entries, peers = of_library(data)
        entries = [entry for entry in entries if entry["seconds"]]
        reading = data["machine"]["gpu"]["ceilings"]["memory_read"]
        of_peers = {peer: [] for peer in peers}
        for entry in entries:
            seconds = device_seconds(entry)
            flops, read = (entry[key] * entry["seconds"]["median"] / seconds for key in ("gflops", "gbps"))
            ratios = [on_device(entry, peer) for peer in peers]
            for peer, one in zip(peers, ratios):
                of_peers[peer] += [one] if one else []
            lines.append(
                [
                    what_of(entry),
                    size_of(entry),
                    rate(seconds * 1e6),
                    rate(flops * 1e-3),
                    percent(read / reading) if "weights" in entry else "–",
                    ratio(alone(data, entry)),
                    against(peers, ratios),
                ]
            )
        if len(entries) > 1 and peers:
            means = [geometric_mean(of_peers[peer]) for peer in peers]
            lines.append(["**geometric mean**", "", "", "", "", "", against(peers, means)])
    headings = ["product", "size", "µs", "TFLOP/s", "of reading", "vs plain", "vs peers"]
    return markdown(headings, lines)


def random(several):
    is_gpu = "threads" not in several[0]["random"]
    groups, seeds = {}, {}
    for draw in (data["random"] for data in several):
        for shape in draw["draws"]:
            key = (shape["dtype"], shape["layout"]) if is_gpu else (shape["dtype"], draw["threads"], draw["max_size"])
            groups.setdefault(key, []).append(shape["ratio"])
            seeds.setdefault(key, set()).add(draw["seed"])
    rows = []
    for key, found in groups.items():
        ratios = sorted(one for one in found if one)
        if not ratios:
            raise Problem(f"no shape of {key[0]} was compared with a peer")
        figures = [geometric_mean(ratios), quantile(ratios, 0.5), quantile(ratios, 0.05), ratios[0]]
        shown = [f"{figure:.2f}" for figure in figures]
        counts = [str(len(ratios))] + ([str(len(seeds[key]))] if is_gpu else [])
        rows.append([*map(str, key), *shown, *counts])
    headings = ["type", "layout"] if is_gpu else ["type", "threads", "up to"]
    headings += ["geometric mean", "median", "5th percentile", "worst", "shapes"] + (["seeds"] if is_gpu else [])
    return markdown(headings, rows)


def reading(data):
    entries, peers = of_library(data)
    read = data["machine"]["ceilings"]["read"]["DRAM"]
    rows = []
    for entry in entries:
        most = read["one_thread" if entry["threads"] == 1 else "all_threads"]
        ratios = [ratio(of_peer(entry, peer)) for peer in peers]
        rate_of = [rate(entry["gbps"]), percent(entry["gbps"] / most)]
        rows.append([size_of(entry), slug(entry["chose"]), *rate_of, *ratios])
    headings = ["size", "rung", "GB/s", f"of {rate(most)} GB/s"]
    return markdown([*headings, *(f"vs {peer}" for peer in peers)], rows)


KINDS = {
    "machine": machine,
    "ladder": ladder,
    "library": library,
    "summary": summary,
    "products": products,
    "random": random,
    "reading": reading,
}


def data_of(results, name, kind):
    """The JSON of a table, or a list for those of several files; None if a file is missing."""
    if kind == "random":
        return [json.loads(path.read_text()) for path in sorted(results.glob(name + ".json"))] or None
    if kind not in ("summary", "products"):
        return load(results, name)
    several = [load(results, one) for one in name.split(",")]
    return None if None in several else several


def table(results, name, kind):
    if kind not in KINDS:
        raise Problem(f"table {name}: '{kind}' is not one of {', '.join(KINDS)}")
    data = data_of(results, name, kind)
    if data is None:
        return NOT_MEASURED
    try:
        return KINDS[kind](data)
    except Problem as problem:
        raise Problem(f"table {name} {kind}: {problem}") from problem
    except (KeyError, TypeError, IndexError) as error:
        raise Problem(f"table {name} {kind}: not what rung bench writes: {error!r}") from error


def filled(page, results):
    """The text of a page with its tables, and the names of those that differ from what is there."""
    text = page.read_text()
    if text.count("<!-- table:") != len(BLOCK.findall(text)):
        raise Problem(
            f"{page.name}: a table does not reach from '<!-- table: RESULTS KIND -->' up to "
            "'<!-- end of table -->'"
        )
    stale = []

    def replace(match):
        begin, name, kind, old, end = match.groups()
        new = table(results, name, kind)
        if new != old:
            stale.append(f"{name} {kind}")
        return begin + new + end

    return BLOCK.sub(replace, text), stale


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    parser.add_argument("--root", type=pathlib.Path, default=root, help="of the project")
    arguments = parser.parse_args()

    try:
        for page in [arguments.root / "README.md", *sorted(arguments.root.glob("docs/*.md"))]:
            text, stale = filled(page, arguments.root / "results")
            if not stale:
                continue
            if arguments.check:
                raise Problem(
                    f"{page.name}: {', '.join(stale)}: does not match results/; run "
                    "scripts/readme_tables.py"
                )
            page.write_text(text)
    except (Problem, OSError, ValueError) as problem:
        print(f"readme_tables: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
