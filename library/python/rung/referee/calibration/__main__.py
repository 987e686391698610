"""Judges the calibration suite: python -m rung.referee.calibration [--every N] [--half seen|kept] [--jobs N]."""

import argparse
import collections
import concurrent.futures
import json
import os
import sys
import time


def _judge(specimen, seed):
    from .. import judge
    start = time.perf_counter()
    verdict = judge(specimen.text, specimen.task, seed=seed, quick=True)
    return verdict.verdict, verdict.rules(), [each.message for each in verdict.findings[:1]], time.perf_counter() - start


def is_right(specimen, verdict):
    """True if the verdict is the known one."""
    return (verdict == "right") == (specimen.kind == "right")


def run(chosen, seed=1, jobs=0):
    """Yields (specimen, verdict, rules, messages, seconds) for each specimen. A judgement ends at the first failure, so
    verdicts do not tell wrong from cheating."""
    with concurrent.futures.ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
        for specimen, result in zip(chosen, pool.map(_judge, chosen, [seed] * len(chosen))):
            yield (specimen, *result)


def summary(results):
    """{"wrong", "caught", "missed": [names], "right", "false_alarms": [names], "kinds": {…}, "seconds": {…}}"""
    results = list(results)
    wrong = [each for each in results if each[0].kind != "right"]
    right = [each for each in results if each[0].kind == "right"]
    kinds = collections.defaultdict(lambda: [0, 0])
    for specimen, verdict, *_ in wrong:
        kinds[specimen.kind][0] += verdict != "right"
        kinds[specimen.kind][1] += 1
    seconds = sorted(each[4] for each in results)
    return {"wrong": len(wrong), "caught": sum(is_right(each[0], each[1]) for each in wrong),
            "missed": [each[0].name for each in wrong if not is_right(each[0], each[1])],
            "right": len(right), "false_alarms": [each[0].name for each in right if not is_right(each[0], each[1])],
            "kinds": {name: f"{caught} of {all_of}" for name, (caught, all_of) in sorted(kinds.items())},
            "seconds": {"median": seconds[len(seconds) // 2], "most": seconds[-1]} if seconds else {}}


def main(words=None):
    from . import specimens
    parser = argparse.ArgumentParser(prog="python -m rung.referee.calibration", description="Judge candidates whose verdicts"
                                     " are known; exit 0 if all verdicts are right.")
    parser.add_argument("--half", choices=["seen", "kept"], help="only the half that the rules were written with, or the other")
    parser.add_argument("--every", type=int, default=1, help="judge every N-th candidate (default: 1)")
    parser.add_argument("--name", default="", help="only candidates whose names begin so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: all processors)")
    parser.add_argument("--verbose", action="store_true", help="print each verdict")
    arguments = parser.parse_args(words)
    chosen = [each for each in specimens() if each.name.startswith(arguments.name) and (
        arguments.half is None or each.is_kept_aside == (arguments.half == "kept"))][::arguments.every]
    results = []
    for result in run(chosen, arguments.seed, arguments.jobs):
        results.append(result)
        specimen, verdict, rules, messages, seconds = result
        if arguments.verbose or not is_right(specimen, verdict):
            print(f"{specimen.name}: {specimen.kind}: {verdict} {', '.join(rules)} ({seconds:.2f} s)"
                  f" {' '.join(messages)[:300]}", file=sys.stderr, flush=True)
    found = summary(results)
    print(json.dumps(found, indent=2))
    return 1 if found["missed"] or found["false_alarms"] else 0


if __name__ == "__main__":
    sys.exit(main())
