"""References of functions of single elements. A relative error of 8 u is granted to exp, tanh, erf and division, and
u |x| to their arguments, as fast intrinsics need."""

import math

import numpy as np

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def _result(n, value, error, flushed=1):
    return {"y": (value, n.rounded(value, error, flushed))}


def relu(x, sizes, n):
    return _result(n, np.maximum(x["x"], 0), 0.0)


def sigmoid(x, sizes, n):
    value = _sigmoid(x["x"])
    return _result(n, value, value * n.u * (16 + 2 * np.abs(x["x"])))


def silu(x, sizes, n):
    value = x["x"] * _sigmoid(x["x"])
    # exp() of a large argument is infinite, so that the factor of x may be flushed to zero.
    return _result(n, value, np.abs(value) * n.u * (16 + 2 * np.abs(x["x"])), 1 + np.abs(x["x"]))


def gelu(x, sizes, n):
    """x (1 + erf(x / sqrt 2)) / 2: where erf is close to -1, the error is one of x, not of the result."""
    a = x["x"]
    return _result(n, a * (1 + _erf(a / math.sqrt(2))) / 2, 8 * n.u * np.abs(a))


def tanh(x, sizes, n):
    return _result(n, np.tanh(x["x"]), 8 * n.u * (np.abs(np.tanh(x["x"])) + 1e-1))


def add(x, sizes, n):
    value = x["x"] + x["z"]
    return _result(n, value, n.u * np.abs(value))


def mul(x, sizes, n):
    value = x["x"] * x["z"]
    return _result(n, value, n.u * np.abs(value))
