#!/usr/bin/env python3
"""Draws scaling curves of `rung dist plan --ranks 1,2,4,... --json FILE` as an SVG: the expected time, and that of
the products alone, over the number of ranks, a pair of curves for each file.

  scripts/scaling_svg.py FILE... > scaling.svg
"""

import json
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 70, 130, 20, 50
COLORS = ["#3b75af", "#d98a2b", "#5a9e4b", "#a04a8a"]
STYLE = """
text { font: 12px sans-serif; fill: #222 }
.grid { stroke: #8884 }
path { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } }
"""


class Axis:
    """A logarithmic axis from pixel `begin` to `end`."""

    def __init__(self, values, base, begin, end):
        self.low, self.high = (round_(math.log(f(values), base)) for f, round_ in ((min, math.floor), (max, math.ceil)))
        self.base, self.begin, self.end = base, begin, end

    def at(self, value):
        share = (math.log(value, self.base) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        return [self.base**i for i in range(self.low, self.high + 1)]


def seconds(value):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value / 1e-6:g} µs"


def curve(points, x, y, color, dashes=""):
    path = " ".join(f"{'L' if i else 'M'}{x.at(a):.1f} {y.at(b):.1f}" for i, (a, b) in enumerate(points))
    return f'<path d="{path}" stroke="{color}" stroke-dasharray="{dashes}"/>\n'


def draw(files):
    x = Axis([plan["ranks"] for plans in files for plan in plans], 2, LEFT, WIDTH - RIGHT)
    times = [plan["seconds"][name] for plans in files for plan in plans for name in ("total", "product")]
    y = Axis(times, 10, HEIGHT - BOTTOM, TOP)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">\n<style>{STYLE}</style>\n'
    for ranks in x.ticks()[::2]:
        yield f'<line class="grid" x1="{x.at(ranks):.1f}" y1="{TOP}" x2="{x.at(ranks):.1f}" y2="{HEIGHT - BOTTOM}"/>\n'
        yield f'<text x="{x.at(ranks):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{ranks}</text>\n'
    for time in y.ticks():
        yield f'<line class="grid" x1="{LEFT}" y1="{y.at(time):.1f}" x2="{WIDTH - RIGHT}" y2="{y.at(time):.1f}"/>\n'
        yield f'<text x="{LEFT - 8}" y="{y.at(time) + 4:.1f}" text-anchor="end">{seconds(time)}</text>\n'
    for plans, color in zip(files, COLORS):
        yield curve([(plan["ranks"], plan["seconds"]["total"]) for plan in plans], x, y, color)
        yield curve([(plan["ranks"], plan["seconds"]["product"]) for plan in plans], x, y, color, "4 4")
        last = plans[-1]
        label_y = y.at(last["seconds"]["total"]) + 4
        yield f'<text x="{WIDTH - RIGHT + 8}" y="{label_y:.1f}" style="fill: {color}">n = {last["n"]}</text>\n'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">ranks; dashed: the products alone</text>\n</svg>\n'


def main():
    files = []
    for name in sys.argv[1:]:
        with open(name) as file:
            files.append(json.load(file)["plans"])
    if not files:
        sys.exit(__doc__)
    sys.stdout.writelines(draw(files))


if __name__ == "__main__":
    main()
