#!/usr/bin/env python3
"""Fills the tables of docs/cuda.md and docs/metal.md, each between two comments of a line,
`<!-- KIND: … -->` and `<!-- end of KIND -->`.

  <!-- ladder: OP/BACKEND -->          its rungs, from their headers
  <!-- kernels: OP/BACKEND -->         the library's kernels, from their headers
  <!-- resources: OP/BACKEND ARCH -->  their resources, from the build's cuda_resources.json

Without arguments, rewrites the pages; with --check, only reports the first stale table and exits with 1.
Registers depend on the version of nvcc, so resources are checked only if the page names the same version.
"""

import argparse
import json
import pathlib
import re
import sys

import rung_headers
from element_types import DTYPES

BLOCK = re.compile(r"(<!-- (\w+): ([^>]+) -->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
LISTED = re.compile(r"^(?:RUNG|KERNEL)\(([\w, ]+)\)", re.MULTILINE)


class Problem(Exception):
    """One line about what is wrong with the page."""


def markdown(headings, rules, rows):
    lines = [headings, rules, *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def listed(project, folder, list_name, heading):
    """A row for each file of a folder that its list names."""
    rows = []
    for slug in LISTED.findall((folder / list_name).read_text()):
        path = folder / f"{slug.replace(', ', '_')}.{folder.name.replace('cuda', 'cu')}"
        fields = rung_headers.header(path)
        link = f"[{path.stem}](../{path.relative_to(project)})"
        needs = "" if fields["needs"] == "nothing" else fields["needs"]
        rows.append([link, fields["idea"].rstrip("."), fields["removes"], fields["bottleneck"], needs])
    return markdown([heading, "idea", "removes", "bottleneck", "needs"], ["---"] * 5, rows)


def span(values):
    """The value, or from the least to the greatest."""
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


def resources(entries, name):
    """A row for each rung and tile, and a column of registers for each type."""
    groups = {}
    for entry in entries:
        ladder_of, slug = entry["rung"].rsplit("/", 1)
        if ladder_of == name:
            groups.setdefault((slug, entry["tile"]), []).append(entry)
    there = {entry["dtype"] for group in groups.values() for entry in group}
    dtypes = [dtype for dtype in DTYPES if dtype in there]
    rows = []
    for (slug, tile), group in groups.items():
        registers = {entry["dtype"]: str(entry["registers"]) for entry in group}
        at_launch = any(entry["dynamic_shared"] for entry in group)
        rows.append([
            slug if tile is None else f"{slug}, tile {tile}",
            span([entry["max_threads"] for entry in group]),
            *(registers.get(dtype, "–") for dtype in dtypes),
            "at launch" if at_launch else span([entry["shared_bytes"] for entry in group]),
            span([entry["spill_store_bytes"] + entry["spill_load_bytes"] for entry in group]),
        ])  # fmt: skip
    headings = ["kernel", "threads", *(dtype.replace("_", "-") for dtype in dtypes), "shared bytes", "spilled bytes"]
    rules = ["---"] + ["---:"] * (len(headings) - 1)
    compiler = f"nvcc {entries[0]['nvcc']}, {entries[0]['arch']}:\n\n"
    return compiler + markdown(headings, rules, rows)


def by_another_nvcc(table, entries):
    named = re.match(r"nvcc ([^,]+),", table)
    return named and named[1] != entries[0]["nvcc"]


def table(kind, what, old, project, entries, checking):
    """Returns the text between the markers, to replace `old`."""
    if kind == "ladder":
        return listed(project, project / "ladder" / what, "rungs.inc", "rung")
    if kind == "kernels":
        return listed(project, project / "kernels" / what, "kernels.inc", "kernel")
    if kind == "table":
        return old  # scripts/readme_tables.py fills it
    if kind != "resources":
        raise Problem(f"table '{kind}' is neither 'ladder', 'kernels' nor 'resources'")
    name, arch = what.split()
    # Code that is specific to an architecture is of that architecture as well: sm_90a.
    here = [entry for entry in entries if entry["arch"].rstrip("a") == arch]
    if not here or (checking and by_another_nvcc(old, here)):
        return old
    return resources(here, name)


def filled(page, project, entries, checking):
    """The page with its tables, and the names of those that differ from what is there."""
    text = page.read_text()
    if text.count("-->") != 2 * len(BLOCK.findall(text)):
        raise Problem(
            f"{page.name}: a table does not go from '<!-- KIND: … -->' up to '<!-- end of KIND -->'"
        )
    stale = []

    def replace(match):
        begin, kind, what, old, end = match.groups()
        new = table(kind, what, old, project, entries, checking)
        if new != old:
            stale.append(f"{kind}: {what}")
        return begin + new + end

    return BLOCK.sub(replace, text), stale


def main():
    project = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    parser.add_argument("--resources", type=pathlib.Path, help="the build's cuda_resources.json")
    parser.add_argument("--root", type=pathlib.Path, default=project, help="of the project")
    arguments = parser.parse_args()

    try:
        entries = json.loads(arguments.resources.read_text()) if arguments.resources else []
        pages = [arguments.root / "docs" / name for name in ("cuda.md", "metal.md")]
        for page in filter(pathlib.Path.exists, pages):
            text, stale = filled(page, arguments.root, entries, arguments.check)
            if stale and arguments.check:
                raise Problem(
                    f"{page.name}: {', '.join(stale)}: stale; run "
                    "scripts/cuda_page.py --resources build/cuda_resources.json"
                )
            if stale:
                page.write_text(text)
    except (Problem, OSError, ValueError) as problem:
        print(f"cuda_page: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
