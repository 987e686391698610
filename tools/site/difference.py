"""A rung's source beside that of the rung it comes from, with the counters of each line."""

import collections
import difflib
import itertools
import re

import colours
import units


def without_header(source):
    """The lines of a source, and how many lines of header comment were left out."""
    lines = shallow(source.splitlines())
    skipped = 0
    while skipped < len(lines) and (lines[skipped].startswith("//") or not lines[skipped].strip()):
        skipped += 1
    return lines[skipped:], skipped


def shallow(lines):
    """Continuation lines, which are aligned with an opening bracket far to the right, indented by 4 instead."""
    found, raw_before, before = [], 0, 0
    for line in lines:
        raw = len(line) - len(line.lstrip())
        indent = before + 4 if raw > raw_before + 8 else before if raw == raw_before else raw
        found.append(" " * indent + line.lstrip())
        if line.strip():
            raw_before, before = raw, indent
    return found


def rows(step, before, traced):
    """Rows of both sources, aligned. Each has "old" and "new": number, HTML, and True if the line differs."""
    new, skipped = without_header(step.source)
    new_html = colours.lines("\n".join(new) + "\n", step.path.suffix[1:])
    old, old_skipped = without_header(before.source) if before else ([], 0)
    old_html = colours.lines("\n".join(old) + "\n", before.path.suffix[1:]) if before else []
    by_line = line_counters(traced, step.path.name)
    found = []
    for old_at, new_at, same in aligned(old, new) if before else ((None, at, True) for at in range(len(new))):
        row = {"changed": not same, "old": None, "new": None, "counters": None}
        if old_at is not None:
            row["old"] = {"number": old_at + old_skipped + 1, "html": old_html[old_at]}
        if new_at is not None:
            number = new_at + skipped + 1
            row["new"] = {"number": number, "html": new_html[new_at]}
            row["counters"] = by_line.get(number)
        found.append(row)
    return found


def aligned(old, new):
    matcher = difflib.SequenceMatcher(
        None, [line.strip() for line in old], [line.strip() for line in new], autojunk=False
    )
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        for old_at, new_at in itertools.zip_longest(range(old_from, old_to), range(new_from, new_to)):
            yield old_at, new_at, tag == "equal"


def lines_changed(step, before):
    """Numbers of added and removed lines."""
    if before is None:
        return 0, 0
    pairs = [pair for pair in aligned(without_header(before.source)[0], without_header(step.source)[0]) if not pair[2]]
    return sum(new is not None for _, new, _ in pairs), sum(old is not None for old, _, _ in pairs)


def total(traced):
    return sum(line["instructions"] for line in traced) or 1


def sectors(line):
    return line["global_sectors"] + line["bulk_sectors"]


def shown(line, all_instructions):
    """The counters of a line as a row shows them; None if all of them would round to nothing."""
    if line["instructions"] < 0.0005 * all_instructions and not sectors(line) and not line["shared_wavefronts"]:
        return None
    share = line["instructions"] / all_instructions
    return {
        "share": share,
        "percent": f"{100 * share:.1f}",
        "instructions": f"{line['instructions']:,}",
        "sectors": units.count(sectors(line)) if sectors(line) else "",
        "wavefronts": units.count(line["shared_wavefronts"]) if line["shared_wavefronts"] else "",
    }


def merged(traced):
    """Lines by place, since several kernels of one call may run the same line."""
    places = collections.OrderedDict()
    for line in traced:
        kept = places.setdefault(line["line"], collections.Counter())
        for name, count in line.items():
            if isinstance(count, int):
                kept[name] += count
    return places


def line_counters(traced, file):
    everything = total(traced)
    found = {}
    for place, line in merged(traced).items():
        if match := re.fullmatch(rf"(?:.*/)?{re.escape(file)}:(\d+)", place):
            found[int(match[1])] = shown(line, everything)
    return found


def header_lines(traced, file, most=10):
    """The hottest lines of headers that the rung includes."""
    everything = total(traced)
    others = [
        {"place": place.rsplit("/", 1)[-1] or "no line", **shown(line, everything)}
        for place, line in merged(traced).items()
        if shown(line, everything) and not re.fullmatch(rf"(?:.*/)?{re.escape(file)}:\d+", place)
    ]
    return sorted(others, key=lambda line: -line["share"])[:most]
