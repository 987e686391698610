"""Entries of the JSON that `rung bench --json` writes: their names, figures and means, as tables show them."""

import math


class Problem(Exception):
    """One line about what is wrong with a page or a file of results."""


# Numbers and names, as a reader wants them.


def size_of(entry):
    if entry["op"] != "gemm":
        return f"{entry['n']:,}".replace(",", " ")
    m, n, k = entry["m"], entry["n"], entry["k"]
    return f"{n}³" if m == n == k else f"{m}×{n}×{k}"


def rate(value):
    """Three significant digits, or all those before the point."""
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{digits}f}"


def percent(value):
    return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.1f} %"


def ratio(value):
    """As `rung bench` writes it."""
    return "–" if value is None else f"{value:.2f}x" if value >= 0.1 else f"{value:.3f}x"


def slug(rung):
    return rung.rsplit("/", 1)[-1]


def is_square(entry):
    """Of nearly equal extents; every length of a dot product is."""
    extents = [entry[extent] for extent in "mnk" if entry[extent] is not None]
    return max(extents) <= 1.1 * min(extents)


def volume(entry):
    return math.prod(entry[extent] or 1 for extent in "mnk")


def unit(entry):
    return ("gflops", "GFLOP/s") if entry["op"] == "gemm" else ("gbps", "GB/s")


def markdown(headings, rows):
    lines = [headings, ["---"] + ["---:"] * (len(headings) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


# What an entry says.


def device_seconds(entry):
    """Of a short call, those in a graph, without the host's part."""
    return (entry.get("graph_seconds") or entry["seconds"])["median"]


def on_device(entry, peer):
    """The peer's time over ours, in graphs if both were timed there; None if it was never timed."""
    found = entry["peers"].get(peer, {})
    return found.get("graph_ratio") or found.get("ratio")


def of_ceiling(entry):
    """A type whose ceiling the bench does not measure has none."""
    return percent(entry["ceiling"]["ratio"]) if "ceiling" in entry else "–"


def of_peer(entry, peer):
    return entry["peers"].get(peer, {}).get("ratio")


def by_form(entries):
    return {
        "square": [entry for entry in entries if is_square(entry)],
        "oblong": [entry for entry in entries if not is_square(entry)],
    }


def geometric_mean(ratios):
    """None if there are no ratios."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None


def mean_of(entries, peer):
    """The geometric mean of the peer's time over ours; None if it was never timed."""
    return geometric_mean([of_peer(entry, peer) for entry in entries if of_peer(entry, peer)])


def of_library(data):
    """The entries of the library, and the peers that it was timed against."""
    entries = [entry for entry in data["results"] if entry["rung"] == "library"]
    if not entries:
        raise Problem("no entry of the library")
    peers = [peer for peer in entries[0]["peers"] if any(of_peer(entry, peer) for entry in entries)]
    return entries, peers


def quantile(values, part):
    """Of sorted values; between two, on the line that joins them, as `rung bench` has it."""
    at = part * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])
