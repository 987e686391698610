"""The measurements in results/: ladders, the library at fixed sizes, and random shapes."""

import collections
import dataclasses
import json
import math
import statistics


@dataclasses.dataclass
class File:
    path: object  # relative to results/
    machine: dict
    random: dict
    results: list


def read(path, root):
    """The runs of a file: one, or as many as files were concatenated."""
    runs = []
    for line in filter(str.strip, path.read_text().splitlines()):
        record = json.loads(line)
        if not runs or "machine" in record:
            common = record.get("common", {})
            runs.append(File(path.relative_to(root), record.get("machine", {}), record.get("random"), []))
        else:
            runs[-1].results.append({**common, **record})
    return runs


def read_all(root):
    """The runs of each machine's folder, by folder; files in folders below have other forms."""
    folders = collections.OrderedDict()
    for path in sorted(root.glob("*/*.jsonl")):
        folders.setdefault(path.parent.name, []).extend(read(path, root))
    return folders


def name_of(files):
    """A machine's name: "NVIDIA H200", "Intel Xeon Processor, 2 cores"."""
    machine = files[0].machine
    if "gpu" in machine:
        return machine["gpu"]["name"]
    model = machine["model"].replace("(R)", "").replace("(TM)", "")
    return f"{' '.join(model.split())}, {machine['cores']} cores"


def is_dot(result):
    return result["op"] != "gemm"


def value(result):
    """The rate that a ladder is about: FLOP/s of a product, bytes/s of a dot product, both in 1e9."""
    return result["gbps"] if is_dot(result) else result["gflops"]


def peers(result):
    """Name and rate of each library that was timed next to this result, fastest first."""
    found = []
    for name, peer in (result.get("peers") or {}).items():
        if peer.get("ratio"):
            found.append((name, value(result) / peer["ratio"], peer["ratio"]))
    return sorted(found, key=lambda entry: -entry[1])


def ceiling(result):
    limit = result.get("ceiling") or {}
    return limit.get("gbps" if is_dot(result) else "gflops")


def usual(result):
    """True for the library as called by default, of the results that a table shows."""
    return (
        result.get("rung") == "library"
        and result.get("math") in (None, "standard")
        and result.get("mode") in (None, "standard", "fast")
        and not result.get("beta")
        and result.get("family") in (None, "symmetric")
        and result.get("operands", "warm") == "warm"
        and result.get("verified")
    )


def quantile(ordered, part):
    """Linear interpolation between order statistics."""
    at = part * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def summary(ratios):
    """Geometric mean, quantiles and extremes of the ratios of random shapes."""
    ordered = sorted(ratios)
    return {
        "count": len(ordered),
        "mean": statistics.geometric_mean(ordered),
        "p5": quantile(ordered, 0.05),
        "q1": quantile(ordered, 0.25),
        "median": quantile(ordered, 0.5),
        "q3": quantile(ordered, 0.75),
        "p95": quantile(ordered, 0.95),
        "worst": ordered[0],
        "best": ordered[-1],
    }
