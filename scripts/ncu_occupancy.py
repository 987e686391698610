#!/usr/bin/env python3
"""Compares the occupancy that `rung explain` computes with ncu's launch figures, rung by rung: the blocks per
SM that registers, shared memory, warps and blocks allow, and registers.

scripts/ncu_occupancy.py PROGRAM [RUNG…]

Needs ncu, permission to profile the GPU, and the GPU's key for --gpu in $RUNG_GPU (default: h200). ncu's limit by
shared memory is for the carve-out of that launch, ours for the largest one: theirs may be smaller. Without RUNG: all of gemm/cuda. Prints a line for each rung and exits with 1 if any differs.
"""

import json
import os
import subprocess
import sys

LIMITS = ("registers", "shared_memory", "warps", "blocks")


def rungs_of(program):
    listed = subprocess.run([program, "list", "gemm/cuda", "--json", "-"], capture_output=True,
                            text=True, check=True).stdout
    return [rung["id"] for rung in json.loads(listed)]


def explain(program, rung, gpu):
    """Returns the explanation's JSON, or the reason why it failed."""
    done = subprocess.run([program, "explain", rung, "--gpu", gpu, "--n", "1024", "--json", "-"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    told = json.loads(done.stdout)
    if told["hardware"] is None:
        return None, done.stderr.strip().splitlines()[-1]
    return told, ""


def differences(told):
    ours, theirs = told["occupancy"], told["hardware"]
    pairs = {limit: (ours["limits"][limit], theirs["limits"].get(limit)) for limit in LIMITS}
    pairs["registers a thread"] = (ours["registers"], theirs["registers"])
    # ncu reports a large number if nothing limits the blocks.
    def same(what, a, b):
        if b is None or a == b or (a is None and b >= ours["limits"]["blocks"]):
            return True
        return what == "shared_memory" and b < a

    return [
        f"{what} {a} here, {b:g} there" for what, (a, b) in pairs.items() if not same(what, a, b)
    ]


def main():
    program, *rungs = sys.argv[1:]
    gpu = os.environ.get("RUNG_GPU", "h200")
    wrong = 0
    for rung in rungs or rungs_of(program):
        told, why_not = explain(program, rung, gpu)
        if told is None:
            print(f"{rung}: not compared: {why_not}")
            wrong += 1
            continue
        differ = differences(told)
        limits = " ".join(f"{limit} {told['occupancy']['limits'][limit]}" for limit in LIMITS)
        print(f"{rung}: {'; '.join(differ) if differ else 'equal'} ({limits})")
        wrong += bool(differ)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
