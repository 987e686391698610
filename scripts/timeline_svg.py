#!/usr/bin/env python3
"""Draws a timeline that `rung-dist-bench --timeline FILE.jsonl` recorded as an SVG: a row for each stream of
each GPU, a bar for each part of the call.

  scripts/timeline_svg.py FILE OPERATION M [--schedule NAME] > timeline.svg
"""

import argparse
import html
import json
import sys

WIDTH, LEFT, ROW, GAP, TOP = 900, 150, 26, 14, 30
LANES = ["products", "products 2", "products 3", "sends", "arrivals"]
COLORS = {"product": "#3b75af", "send": "#d98a2b", "copy": "#5a9e4b"}  # waits and collectives: grey
STYLE = """
text { font: 12px sans-serif; fill: #222 }
.soft { fill: #666 }
.inside { fill: #fff; text-anchor: middle }
.grid { stroke: #8884 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .soft { fill: #aaa } }
"""


class Problem(Exception):
    """One line about why nothing is drawn."""


def find(recorded, operation, m, schedule):
    for result in recorded:
        if (result["operation"], result["m"], result["schedule"]) == (operation, m, schedule):
            return result
    raise Problem(f"the file has no timeline of {operation}, m = {m}, schedule {schedule}")


def tick_distance(microseconds):
    """1, 2 or 5 times a power of ten, so that there are at most 12 ticks."""
    distance = 1
    for factor in [2, 2.5, 2] * 6:
        if microseconds / distance <= 12:
            break
        distance *= factor
    return int(distance)


def bar(span, y, scale):
    begin = max(0, span["begin"])  # a stream may have waited before the call
    x = LEFT + begin * 1e6 * scale
    width = max(1, (span["end"] - begin) * 1e6 * scale)
    name = html.escape(span["work"] + (f", {span['rows']} rows" if span["rows"] else ""))
    title = f"{name}: {span['begin'] * 1e6:.1f} to {span['end'] * 1e6:.1f} µs"
    is_wait = span["work"].startswith("wait")
    height = ROW // 3 if is_wait else ROW - 4
    color = COLORS.get(span["work"], "#999")
    yield f'<rect x="{x:.1f}" y="{y + (ROW - height) / 2:.1f}" width="{width:.1f}" height="{height}" '
    yield f'rx="2" fill="{color}"><title>{title}</title></rect>\n'
    if not is_wait and width > 6.2 * len(name):
        yield f'<text class="inside" x="{x + width / 2:.1f}" y="{y + ROW / 2 + 4:.0f}">{name}</text>\n'


def rows(result):
    """(rank, lane, its spans) of each stream in which something runs."""
    for rank, spans in enumerate(result["ranks"]):
        for lane in LANES:
            inside = [span for span in spans if span["lane"] == lane]
            if inside:
                yield rank, lane, inside


def draw(result):
    last = max(span["end"] for spans in result["ranks"] for span in spans) * 1e6
    scale = (WIDTH - LEFT - 10) / last
    body, y, before = [], TOP, 0
    for rank, lane, spans in rows(result):
        y += GAP if rank != before else 0
        before = rank
        body.append(f'<text x="4" y="{y + ROW / 2 + 4:.0f}">GPU {rank}, {lane}</text>\n')
        for span in spans:
            body.extend(bar(span, y, scale))
        y += ROW
    for tick in range(0, int(last) + 1, tick_distance(last)):
        x = LEFT + tick * scale
        body.insert(0, f'<path class="grid" d="M{x:.1f} {TOP - 8}V{y}"/>\n')
        body.append(f'<text class="soft" x="{x:.1f}" y="{TOP - 14}" text-anchor="middle">{tick}</text>\n')
    body.append(f'<text class="soft" x="4" y="{TOP - 14}">µs since the call began</text>\n')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 6}" width="{WIDTH}" '
            f'height="{y + 6}">\n<style>{STYLE}</style>\n{"".join(body)}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("operation", help="such as gemm_reduce_scatter")
    parser.add_argument("m", type=int)
    parser.add_argument("--schedule", default="automatic", help="default: automatic")
    arguments = parser.parse_args()
    try:
        with open(arguments.file, encoding="utf-8") as file:
            head, *lines = map(json.loads, file)
        recorded = [{**head.get("common", {}), **line} for line in lines]
        sys.stdout.write(draw(find(recorded, arguments.operation, arguments.m, arguments.schedule)))
    except (OSError, ValueError, Problem) as error:
        sys.exit(f"timeline_svg.py: {error}")


if __name__ == "__main__":
    main()
