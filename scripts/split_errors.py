#!/usr/bin/env python3
"""Errors of f32 as three products of f16 halves, against a chain of FMAs: the table of docs/accuracy.md.

Needs NumPy. The model of a tensor-core instruction aligns 16 products and the accumulator to the largest
of them, keeps --bits bits of each (25: sm_90; 24: the least that any device keeps), and truncates.
"""

import argparse

import numpy as np

U = 2.0**-24
SLAB = 64


def half(x):
    return x.astype(np.float16).astype(np.float64)


def instruction(acc, a, b, bits):
    """Models one instruction: acc + a b over 16 k-steps."""
    terms = np.concatenate([a[:, :, None] * b[None, :, :], acc[:, None, :]], axis=1)
    _, exponents = np.frexp(np.abs(terms).max(axis=1))
    quanta = np.ldexp(1.0, exponents - bits)[:, None, :]
    total = (np.trunc(terms / quanta) * quanta).sum(axis=1)
    mantissas, exponents = np.frexp(total)
    return np.ldexp(np.trunc(np.ldexp(mantissas, 24)), exponents - 24)


def split(x):
    """Splits scaled rows. Returns high and low halves, exponents, and the norms of losses and of rows."""
    largest = np.abs(x).max(axis=1)
    _, exponents = np.frexp(largest)
    exponents = np.where(largest == 0, 0, exponents - 15)
    scaled = np.ldexp(x, -exponents[:, None])
    high = half(scaled)
    low = half(scaled - high)
    lost = np.abs(scaled - high - low)
    lost = np.where(lost > np.abs(scaled) * 2.0**-23, lost + 2.0**-60, 0)
    return high, low, exponents, np.linalg.norm(lost, axis=1), np.linalg.norm(scaled, axis=1)


def by_halves(a, b, bits):
    """The product from halves, and the number of its elements that FMAs compute again."""
    a_high, a_low, a_exponents, a_loss, a_norm = split(a.astype(np.float64))
    b_high, b_low, b_exponents, b_loss, b_norm = split(b.T.astype(np.float64))
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    k = a.shape[1]
    for slab in range(0, k, SLAB):
        acc = np.zeros(total.shape)
        for x, y in ((a_high, b_low.T), (a_low, b_high.T), (a_high, b_high.T)):
            for at in range(slab, min(slab + SLAB, k), 16):
                acc = instruction(acc, x[:, at : at + 16], y[at : at + 16], bits)
        total += acc.astype(np.float32)
    doubtful = np.abs(total) < (np.outer(a_loss, b_norm) + np.outer(a_norm, b_loss)) * 2.0**27 / k
    scaled = np.ldexp(total.astype(np.float64), a_exponents[:, None] + b_exponents[None, :])
    return np.where(doubtful, by_fmas(a, b), scaled).astype(np.float32), int(doubtful.sum())


def by_fmas(a, b):
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        step = a[:, k : k + 1].astype(np.float64) * b[k : k + 1].astype(np.float64)
        total = (total.astype(np.float64) + step).astype(np.float32)
    return total


def errors(c, a, b):
    """||C - AB|| / ||AB||, and the largest |C - AB| / |A||B| in u."""
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    exact = a @ b
    off = np.abs(c - exact)
    sizes = np.abs(a) @ np.abs(b)
    normwise = np.linalg.norm(off.astype(float)) / np.linalg.norm(exact.astype(float))
    return f"{normwise:.1e}, {float((off / np.where(sizes == 0, 1, sizes)).max()) / U:.1f}"


def families(random, extent, k):
    normal = random.standard_normal
    shapes = (extent, k), (k, extent)
    yield "normal", *(normal(s) for s in shapes)
    yield "uniform in [0, 1)", *(random.random(s) for s in shapes)
    yield "from 1 to 1 + 2⁻¹¹", *(1 + random.random(s) * 2.0**-11 for s in shapes)
    yield "X exp(2 Y)", *(normal(s) * np.exp(2 * normal(s)) for s in shapes)
    yield "(uniform − ½) exp(4 Y)", *((random.random(s) - 0.5) * np.exp(4 * normal(s)) for s in shapes)
    powers = (10.0 ** random.uniform(-12, 12, s) for s in ((extent, 1), (1, extent)))
    yield "normal, rows and columns by 10^±12", *(normal(s) * p for s, p in zip(shapes, powers))
    a, b = (normal(s) for s in shapes)
    a[:, k // 2 :] = -a[:, : k // 2] * (1 + 2.0**-18 * normal((extent, k // 2)))
    b[k // 2 :] = b[: k // 2]
    yield "halves that cancel to 2⁻¹⁸", a, b
    a, b = normal(shapes[0]) * 2.0**-20, normal(shapes[1])
    a[:, 5], b[5] = 2.0**20, 0
    yield "2⁻²⁰, but one 2²⁰ times 0", a, b
    yield "normal, elements by 2^±30", *(normal(s) * 2.0 ** random.uniform(-30, 30, s) for s in shapes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=25)
    parser.add_argument("--extent", type=int, default=24, help="rows and columns of C")
    parser.add_argument("k", type=int, nargs="+")
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    print("| k | elements | split | float | computed again |\n| ---: | --- | ---: | ---: | ---: |")
    for k in arguments.k:
        for name, a, b in families(random, arguments.extent, k):
            a, b = a.astype(np.float32), b.astype(np.float32)
            c, again = by_halves(a, b, arguments.bits)
            share = 100 * again / c.size
            print(f"| {k} | {name} | {errors(c, a, b)} | {errors(by_fmas(a, b), a, b)} | {share:.0f} % |")


if __name__ == "__main__":
    main()
