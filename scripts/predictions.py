#!/usr/bin/env python3
"""Compares the times that `rung explain` predicts with measured ones.

    predictions.py RUNG TIMES [SCALE...]
    predictions.py RUNG --rungs RESULTS...
    predictions.py RUNG --claim [--write | --check FAMILY...]

TIMES has a line of JSON for each launch, as tests/analysis/timed_launches.cu writes it, with the program's
name. For each program and scale, explains it with -DSCALE and compares the kernels' times with cold caches.
RESULTS are JSON of `rung bench --cold`: compares its times of gemm/cuda, dot/cuda and sum/cuda with predictions for
each rung, where there is one.
--claim: predicts the kernels of tests/analysis/daily_use, and compares with the times in
results/nvidia-h200/daily-use.json. Families with an entry in "first_sight" were timed and predicted once before the model
saw them; the error of these predictions is the one that `rung explain` prints. --write stores the predictions there, those of new
families as first_sight, too, and the errors in time.hpp, docs/explain.md and docs/notes/virtual-gpu.md. --check fails if these disagree, or if predictions of the families have changed.
For the others, --gpu KEY, such as h100, is the GPU that the times are from (default: h200), and --launch its time of
an empty kernel in microseconds.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DAILY_USE = ROOT / "results" / "nvidia-h200" / "daily-use.json"
CLAIM = ROOT / "tools" / "analysis" / "diagnosis" / "time.hpp"
PAGE = ROOT / "docs" / "explain.md"
NOTES = ROOT / "docs" / "notes" / "virtual-gpu.md"
SOURCES = ROOT / "tests" / "analysis"


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


def of_family(rung, family, launch):
    """Predictions in microseconds, by kernel. Spills are known only if ptxas is installed."""
    machine = ["--gpu", "h200", "--launch-time", str(launch)]
    found = explained(rung, machine, SOURCES / "daily_use" / f"{family}.cu")
    return {
        one["kernel"].split("(")[0]: round(one["diagnosis"]["predicted_seconds"] * 1e6, 2) for one in found["kernels"]
    }


def halves(data):
    """Predicted over measured: of the kernels that the model was fitted to, and of the others as they were first predicted."""

    def ratios(predicted):
        times = data["microseconds"]
        return [time / times[family][kernel] for family in predicted for kernel, time in predicted[family].items()]

    first = data["first_sight"]
    return ratios({family: data["predicted"][family] for family in data["predicted"] if family not in first}), ratios(first)


def claim_of(ratios):
    """The line of time.hpp."""
    errors = errors_of(ratios)
    return f"errors_of_kernels = {{{statistics.median(errors):.2f}, {errors[int(0.9 * len(errors))]:.2f}}}"


def page_text(ratios):
    errors = errors_of(ratios)
    median, decile = statistics.median(errors), errors[int(0.9 * len(errors))]
    return f"{100 * median:.0f} % and {100 * decile:.0f} % for {len(errors)} kernels"


def claimed(data):
    """The claims in time.hpp and the pages, as (file, pattern, text)."""
    fitted, judged = halves(data)
    return [
        (CLAIM, r"errors_of_kernels = \{[^}]*\}", claim_of(judged)),
        (NOTES, r"(?m)^\| daily use, fitted \|.*$", row_text("daily use, fitted", fitted)),
        (NOTES, r"(?m)^\| daily use, judged \|.*$", row_text("daily use, judged", judged)),
        (PAGE, r"\d+ % and \d+ % for \d+ kernels", page_text(judged)),
    ]


def claim(rung, write, check):
    data = json.loads(DAILY_USE.read_text())
    launch = data["empty_us"]
    if check:
        for file, pattern, text in claimed(data):
            if text not in file.read_text():
                sys.exit(f"{file}: expected '{text}'; run scripts/predictions.py {rung} --claim --write")
        for family in check:
            for kernel, time in of_family(rung, family, launch).items():
                if abs(time / data["predicted"][family][kernel] - 1) > 0.02:
                    sys.exit(f"{kernel}: predicted {time} us, stored {data['predicted'][family][kernel]}")
        return
    known = data.get("predicted", {})
    data["predicted"] = {family: of_family(rung, family, launch) for family in data["microseconds"]}
    for family in data["microseconds"]:
        if family not in known and family not in data["first_sight"]:
            data["first_sight"][family] = data["predicted"][family]
    for family, kernels in data["microseconds"].items():
        for kernel, time in kernels.items():
            half = "judged" if family in data["first_sight"] else "fitted"
            report(f"{kernel} ({half})", data["predicted"][family][kernel], time)
    for _, _, text in claimed(data):
        print(text)
    if not write:
        return
    lines = [f"{json.dumps(key)}: {compact(value)}" for key, value in data.items()]
    DAILY_USE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    for file, pattern, text in claimed(data):
        file.write_text(re.sub(pattern, lambda _, text=text: text, file.read_text()))


def compact(value):
    """JSON with a line for each family."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(one)}" for key, one in value.items()) + "\n}"


def errors_of(ratios):
    return sorted(abs(ratio - 1) for ratio in ratios)


def report(name, expected, time):
    print(f"{name:60} predicted {expected:9.1f} us, measured {time:9.1f}: {expected / time:.2f}", flush=True)


def row_text(name, ratios):
    wrong = errors_of(ratios)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    close = sum(error <= 0.25 for error in wrong) / len(wrong)
    cells = [name, len(ratios), f"{mean:.2f}", f"{100 * close:.0f} %", f"{100 * statistics.median(wrong):.0f} %",
             f"{100 * wrong[int(0.9 * len(wrong))]:.0f} %"]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def row(name, ratios):
    print(row_text(name, ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("rung")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--claim", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", nargs="+")
    parser.add_argument("--rungs", action="store_true")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--launch")
    given = parser.parse_args()
    if given.claim:
        claim(given.rung, given.write, given.check)
        return
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
