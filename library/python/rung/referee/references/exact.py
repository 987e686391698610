"""References without rounding: transpose, copy, sort, histogram."""

import numpy as np


def transpose(x, sizes, n):
    return {"y": (x["x"].T.copy(), 0.0)}


def copy(x, sizes, n):
    return {"y": (x["x"].copy(), 0.0)}


def sort(x, sizes, n):
    return {"y": (np.sort(x["x"]), 0.0)}


def histogram(x, sizes, n):
    return {"counts": (np.bincount(x["x"].astype(np.int64), minlength=sizes["bins"]).astype(np.float64), 0.0)}
