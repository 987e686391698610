#!/usr/bin/env python3
"""Compares the times that `rung explain` predicts with measured ones.

    predictions.py RUNG TIMES [SCALE...]
    predictions.py RUNG --rungs RESULTS...

TIMES has a line of JSON for each launch, as tests/analysis/timed_launches.cu writes it, with the program's
name. For each program and scale, explains it with -DSCALE and compares the kernels' times with cold caches.
RESULTS are JSON of `rung bench --cold`: compares its times of gemm/cuda, dot/cuda and sum/cuda with predictions for
each rung, where there is one.
For either, --gpu KEY, such as h100, is the GPU that the times are from (default: h200), and --launch its time of
an empty kernel in microseconds.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "tests" / "analysis"


def explained(rung, machine, *arguments):
    """The JSON of `rung explain`; None where the rung cannot run that."""
    done = subprocess.run(
        [rung, "explain", *map(str, arguments), *machine, "--no-hardware", "--json", "-"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    start = done.stdout.find("{")
    return json.loads(done.stdout[start:]) if start >= 0 else None


def predicted(rung, machine, program, scale):
    found = explained(rung, machine, SOURCES / f"{program}.cu", f"-DSCALE={scale}")
    return {one["kernel"]: one["diagnosis"]["predicted_seconds"] * 1e6 for one in found["kernels"]}


def measured(file):
    """Medians in microseconds, by program and scale, by the symbol."""
    times = {}
    for line in pathlib.Path(file).read_text().splitlines():
        launch = json.loads(line)
        times.setdefault((launch["program"], launch["scale"]), {})[launch["symbol"]] = launch["cold"][1]
    return times


def of_programs(rung, machine, file, scales):
    """Predicted over measured, by program and scale."""
    ratios = {}
    for (program, scale), launches in sorted(measured(file).items()):
        if scales and str(scale) not in scales:
            continue
        for name, expected in predicted(rung, machine, program, scale).items():
            found = [time for symbol, time in launches.items() if name in symbol]
            assert len(found) == 1, name
            ratios.setdefault(f"{program} x{scale}", []).append(expected / found[0])
            report(f"{name} x{scale}", expected, found[0])
    return ratios


def of_rungs(rung, machine, files):
    """Predicted over measured, by file."""
    ratios = {}
    for file in files:
        for entry in json.loads(pathlib.Path(file).read_text())["results"]:
            if "/cuda/" not in entry["rung"] or not entry["seconds"] or entry.get("layout", "nn") != "nn":
                continue
            extents = "mnk" if entry["op"] == "gemm" else "n"
            size = [word for extent in extents for word in (f"--{extent}", entry[extent])]
            found = explained(rung, machine, entry["rung"], "--dtype", entry["dtype"], *size)
            if found is None or found["prediction"] is None:
                continue
            time = entry["seconds"]["median"] * 1e6
            expected = found["prediction"]["predicted_seconds"] * 1e6
            ratios.setdefault(pathlib.Path(file).stem, []).append(expected / time)
            shape = "x".join(str(entry[extent]) for extent in extents)
            report(f"{entry['rung']} {shape}", expected, time)
    return ratios


def report(name, expected, time):
    print(f"{name:60} predicted {expected:9.1f} us, measured {time:9.1f}: {expected / time:.2f}", flush=True)


def row(name, ratios):
    wrong = sorted(abs(ratio - 1) for ratio in ratios)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    close = sum(error <= 0.25 for error in wrong) / len(wrong)
    cells = [name, len(ratios), f"{mean:.2f}", f"{100 * close:.0f} %", f"{100 * statistics.median(wrong):.0f} %",
             f"{100 * wrong[int(0.9 * len(wrong))]:.0f} %"]  # fmt: skip
    print("| " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("rung")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rungs", action="store_true")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--launch")
    given = parser.parse_args()
    machine = ["--gpu", given.gpu] + (["--launch", given.launch] if given.launch else [])
    ratios = (
        of_rungs(given.rung, machine, given.files)
        if given.rungs
        else of_programs(given.rung, machine, given.files[0], given.files[1:])
    )
    print("| of | predictions | predicted / measured | within 25 % | median error | 90th percentile |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, group in ratios.items():
        row(name, group)
    row("all", [ratio for group in ratios.values() for ratio in group])


if __name__ == "__main__":
    main()
