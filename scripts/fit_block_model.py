#!/usr/bin/env python3
"""Fits the constants of the block model (select/cuda/models.hpp) to measurements.

Reads files that `rung bench gemm/cuda --random N --regret --json FILE` wrote on one device and
prints the lines of the block models for select/cuda/data/<device>_models.txt. Half of the shapes are held
back: the regret on them, of a model fitted to the other half, goes to standard error. Needs numpy
and scipy.

    scripts/fit_block_model.py random-*.json
"""

import argparse
import json
import math
import sys

import numpy as np
from scipy.optimize import least_squares

SPLIT_K = "gemm/cuda/fma_tiles"
# For each tile of a rung: BM, BN, BK, and how many blocks fit an SM (registers, shared memory).
RUNGS = {
    (SPLIT_K, "f32"): [(128, 256, 8, 1), (64, 128, 16, 3), (64, 64, 16, 4), (32, 64, 16, 5),
                       (16, 128, 32, 2), (128, 16, 32, 2), (128, 32, 16, 4)],
    (SPLIT_K, "i32"): [(64, 128, 16, 3), (64, 64, 16, 4)],
    ("gemm/cuda/mma_f64", "f64"): [(128, 128, 16, 1), (64, 128, 16, 2), (64, 64, 16, 3),
                                      (32, 32, 16, 4)],
    ("gemm/cuda/mma_f64_warp_specialized", "f64"): [(128, 128, 16, 1), (64, 128, 16, 2),
                                                 (64, 64, 16, 3), (32, 64, 16, 4),
                                                 (32, 32, 16, 4)],
}
# BlockModel::excess of models that have one.
EXCESS = {(SPLIT_K, "f32"): 0.7}
BYTES = {"f32": 4, "i32": 4, "f64": 8}
# How operands are copied, as cuda::Copies: factors of a tile's times for all but the first.
FAST, BOTH_K_MAJOR, B_K_MAJOR, SLOW = range(4)


def has_fast_copies(rung, dtype, layout, m, n, k):
    """As has_fast_copies() in select/cuda/operands.cpp, for operands without padding."""
    vector = 16 // BYTES[dtype]
    if rung == SPLIT_K:
        return layout[1] == "n" and n % vector == 0 and (layout[0] == "n" or m % vector == 0)
    lda = k if layout[0] == "n" else m
    ldb = n if layout[1] == "n" else k
    return lda % vector == 0 and ldb % vector == 0


def copies_of(rung, dtype, layout, m, n, k):
    """As copies_of() in select/cuda/operands.cpp, for operands without padding."""
    if has_fast_copies(rung, dtype, layout, m, n, k):
        return FAST
    vector = 16 // BYTES[dtype]
    lda = k if layout[0] == "n" else m
    ldb = n if layout[1] == "n" else k
    if lda % vector != 0 or ldb % vector != 0 or layout[1] == "n":
        return SLOW
    return BOTH_K_MAJOR if layout[0] == "n" else B_K_MAJOR


def packed_extents(dtype, layout, m, n):
    """The extents of operands that are copied for fast copies, as packing_for_fast_copies() does."""
    vector = 16 // BYTES[dtype]
    packs_a = layout[0] == "t" and m % vector != 0
    packs_b = layout[1] == "t" or n % vector != 0
    return [extent for extent, packs in ((m, packs_a), (n, packs_b)) if packs]


class Sample:
    """The measured plans of one rung and type, as arrays."""

    def __init__(self, key, plans, multiprocessors):
        self.key = key
        self.tiles = RUNGS[key]
        self.shapes = [(p["layout"], p["m"], p["n"], p["k"]) for p in plans]
        size = BYTES[key[1]]
        array = lambda f: np.array([f(p) for p in plans], dtype=float)
        self.seconds = array(lambda p: p["seconds"] * 1e6)
        self.tile = np.array([p["tile"] for p in plans])
        self.splits = array(lambda p: p["splits"])
        m, n, k = (array(lambda p, e=e: p[e]) for e in "mnk")
        rows, columns, steps, self.resident = np.array(self.tiles, dtype=float)[self.tile].T
        self.copies = np.array([FAST if p.get("packs") else
                                copies_of(key[0], key[1], p["layout"], p["m"], p["n"], p["k"])
                                for p in plans])
        packed = [packed_extents(key[1], p["layout"], p["m"], p["n"]) if p.get("packs") else []
                  for p in plans]
        self.packs = np.array([len(extents) for extents in packed])
        self.packed_bytes = 2 * size * k * np.array([sum(extents) for extents in packed])
        whole = array(lambda p: p.get("whole", 0))  # tiles in one part; before there were any: 0
        cut = (np.ceil(m / rows) * np.ceil(n / columns) - whole) * self.splits
        wave = self.resident * multiprocessors
        k_blocks = np.ceil(k / steps)
        # For the blocks with a whole tile, and for those with a part of one: the k-blocks of each,
        # the number of full waves, and the number per SM in the last wave.
        self.groups = []
        follows = False
        for blocks, each in ((whole, k_blocks), (cut, np.ceil(k_blocks / self.splits))):
            follows = follows | (blocks > wave)
            mean = blocks % wave / multiprocessors
            excess = EXCESS.get(key, 0) * (1 - mean / self.resident)
            uneven = np.maximum(np.ceil(mean), mean + excess)
            last = np.where(follows & (mean > 0), uneven, np.ceil(mean))
            self.groups.append((each, np.floor(blocks / wave), last))
            follows = follows | (blocks >= wave)
        self.bytes = size * (m * k + k * n + m * n)
        self.loaded = (size * (whole * k_blocks + cut * np.ceil(k_blocks / self.splits)) * steps *
                       (rows + columns))
        self.sums = np.where(self.splits > 1, 2 * size * cut * rows * columns, 0)
        best = {}
        for shape, seconds in zip(self.shapes, self.seconds):
            best[shape] = min(best.get(shape, math.inf), seconds)
        self.best = np.array([best[shape] for shape in self.shapes])

    def predict(self, logs):
        n = len(self.tiles)
        of_tiles = np.exp(logs[:6 * n]).reshape(6, n)[:, self.tile]
        latency, throughput, overhead = of_tiles[:3]
        launch, memory, l2, meeting, part, exchange, copy, packing = np.exp(logs[6 * n:])
        slower = np.choose(self.copies, [np.ones(len(self.copies)), *of_tiles[3:]])

        def wave(k_blocks, resident):
            return (slower * k_blocks * np.maximum(latency, resident * throughput) +
                    overhead * np.sqrt(resident))

        work = sum(full * wave(each, self.resident) + np.where(last > 0, wave(each, last), 0)
                   for each, full, last in self.groups)
        moved = self.bytes / memory + self.loaded / l2
        shared = np.where(self.splits > 1, meeting + part * self.splits + self.sums / exchange, 0)
        packs = self.packs * copy + self.packed_bytes / packing
        return launch + (work**4 + moved**4)**0.25 + shared + packs

    def fit(self):
        n = len(self.tiles)
        start = np.log(np.concatenate([np.full(n, .5), np.full(n, .3), np.full(n, 1.),
                                       np.full(3 * n, 1.05),
                                       [3, 3e6, 1e7, 2, .02, 3e6, 4, 3e6]]))
        # Plans that are far from the best one need not be predicted well.
        weight = 1 / np.minimum(self.seconds / self.best, 4)
        error = lambda logs: (np.log(self.predict(logs)) - np.log(self.seconds)) * weight
        # Constants that the sample does not determine stay near where they began.
        pull = lambda logs: 0.02 * (logs - start)
        return least_squares(lambda logs: np.concatenate([error(logs), pull(logs)]), start,
                             loss="soft_l1", f_scale=.1, max_nfev=400).x

    def regret(self, logs):
        predicted = self.predict(logs)
        chosen = {}
        for i, shape in enumerate(self.shapes):
            if shape not in chosen or predicted[i] < predicted[chosen[shape]]:
                chosen[shape] = i
        ratios = np.sort([self.seconds[i] / self.best[i] for i in chosen.values()])
        return (f"regret {math.exp(np.log(ratios).mean()):.3f}, 95th percentile "
                f"{ratios[int(.95 * len(ratios))]:.3f}, worst {ratios[-1]:.3f} "
                f"of {len(ratios)} shapes")

    def lines(self, logs):
        n = len(self.tiles)
        launch, memory, l2, meeting, part, exchange, copy, packing = np.exp(logs[6 * n:])
        yield (f"launch {self.key[0]} {self.key[1]} {launch:.3f} {memory:.0f} {l2:.0f} "
               f"{meeting:.3f} {part:.5f} {exchange:.0f} {copy:.2f} {packing:.0f}"
               + (f" {EXCESS[self.key]}" if self.key in EXCESS else ""))
        for tile, times in zip(self.tiles, np.exp(logs[:6 * n]).reshape(6, n).T):
            yield f"tile {tile[3]} " + " ".join(f"{time:.4f}" for time in times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--multiprocessors", type=int, default=132, help="SMs of the device")
    options = parser.parse_args()
    plans = {key: [] for key in RUNGS}
    devices = set()
    for file in options.files:
        with open(file, encoding="utf-8") as text:
            random = json.load(text)["random"]
        devices.add(random["device"])
        for plan in random["plans"]:
            key = (plan["rung"], plan["dtype"])
            if key in plans and plan.get("seconds"):
                plans[key].append(plan)
    print("# Constants of the block model (select/cuda/models.hpp), by "
          "scripts/fit_block_model.py,")
    print(f"# on {', '.join(sorted(devices))}")
    for key, all_plans in plans.items():
        if not all_plans:
            continue
        shapes = sorted({(p["m"], p["n"], p["k"]) for p in all_plans})
        number = {shape: i for i, shape in enumerate(shapes)}
        halves = [Sample(key, [p for p in all_plans if number[p["m"], p["n"], p["k"]] % 2 == half],
                         options.multiprocessors) for half in (0, 1)]
        for fitted, held_back in (halves, halves[::-1]):
            print(f"{key[0]} {key[1]}: held back: {held_back.regret(fitted.fit())}",
                  file=sys.stderr)
        sample = Sample(key, all_plans, options.multiprocessors)
        logs = sample.fit()
        print(f"{key[0]} {key[1]}: all: {sample.regret(logs)}", file=sys.stderr)
        print("\n".join(sample.lines(logs)))


if __name__ == "__main__":
    main()
