#!/usr/bin/env python3
"""Compares the times that `rung explain` predicts with measured ones.

    predictions.py RUNG TIMES [SCALE...]

TIMES has a line of JSON for each launch, as tests/analysis/timed_launches.cu writes it, with the program's
name. For each program and scale, explains it with -DSCALE and compares the kernels' times with cold caches.
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "tests" / "analysis"


def predicted(rung, program, scale):
    done = subprocess.run(
        [rung, "explain", SOURCES / f"{program}.cu", f"-DSCALE={scale}", "--json", "-"],
        capture_output=True, text=True, check=False,
    )
    kernels = json.loads(done.stdout[done.stdout.index("{"):])["kernels"]
    return {kernel["kernel"]: kernel["diagnosis"]["predicted_seconds"] * 1e6 for kernel in kernels}


def measured(file):
    """Medians in microseconds, by program and scale, by the symbol."""
    times = {}
    for line in pathlib.Path(file).read_text().splitlines():
        launch = json.loads(line)
        times.setdefault((launch["program"], launch["scale"]), {})[launch["symbol"]] = launch["cold"][1]
    return times


def main():
    rung, file, *scales = sys.argv[1:]
    times = measured(file)
    errors = {}
    for (program, scale), launches in sorted(times.items()):
        if scales and str(scale) not in scales:
            continue
        for name, expected in predicted(rung, program, scale).items():
            found = [time for symbol, time in launches.items() if name in symbol]
            assert len(found) == 1, name
            ratio = expected / found[0]
            errors.setdefault((program, scale), []).append(ratio)
            print(f"{name:55} x{scale}  predicted {expected:7.1f} us, measured {found[0]:7.1f}: {ratio:.2f}")
    print("| kernels | scale | predicted / measured | within a factor of 1.5 | median error | 90th percentile |")
    print("|---|---:|---:|---:|---:|---:|")
    groups = dict(errors)
    for program in sorted({program for program, _ in errors}):
        groups[program, "all"] = [r for (p, _), ratios in errors.items() if p == program for r in ratios]
    for (program, scale), ratios in groups.items():
        wrong = sorted(abs(ratio - 1) for ratio in ratios)
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
        close = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios) / len(ratios)
        print(f"| {program} | {scale} | {mean:.2f} | {100 * close:.0f} % | {100 * statistics.median(wrong):.0f} % "
              f"| {100 * wrong[int(0.9 * len(wrong))]:.0f} % |")


if __name__ == "__main__":
    main()
