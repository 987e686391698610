"""References of sums and normalizations: sum, softmax, layernorm, rmsnorm, scan."""

import numpy as np


def sum_(x, sizes, n):
    value = np.array([x["x"].sum()])
    bound = n.gamma(max(0, sizes["n"] - 1)) * np.abs(x["x"]).sum(keepdims=True)
    return {"result": (value, n.rounded(value, bound, sizes["n"]))}


def row_sum(x, sizes, n):
    value = x["x"].sum(axis=1)
    bound = n.gamma(max(0, sizes["n"] - 1)) * np.abs(x["x"]).sum(axis=1)
    return {"y": (value, n.rounded(value, bound, sizes["n"]))}


def scan(x, sizes, n):
    """Inclusive prefix sums: y[i] has at most n additions in any tree."""
    value = np.cumsum(x["x"])
    bound = n.gamma(max(0, sizes["n"] - 1)) * np.cumsum(np.abs(x["x"]))
    return {"y": (value, n.rounded(value, bound, np.arange(1, sizes["n"] + 1)))}


def softmax(x, sizes, n):
    """exp(x - max) / sum. exp() may have 8 ulp, and twice its argument as __expf does (CUDA C++ Programming Guide,
    intrinsic functions); the sum is of positive terms; an online maximum rescales at most n times."""
    shifted = x["x"] - x["x"].max(axis=1, keepdims=True)
    terms = np.exp(shifted)
    value = terms / terms.sum(axis=1, keepdims=True)
    relative = n.u * (16 + 2 * np.abs(shifted)) + n.gamma(2 * sizes["n"])
    bound = value * (relative + (value * relative).sum(axis=1, keepdims=True))
    return {"y": (value, n.rounded(value, bound, 4))}


def layernorm(x, sizes, n):
    """(x - mean) / sqrt(variance + 1e-5) * w + b, with a variance of deviations (two passes, or Welford's).

    E[x^2] - E[x]^2 is not granted its cancellation. The mean's error d shifts all deviations, which adds d^2 to the
    variance; its first-order effect is zero.
    """
    a, w, b, cols = x["x"], x["w"], x["b"], sizes["n"]
    mean = a.mean(axis=1, keepdims=True)
    deviation = a - mean
    variance = (deviation ** 2).mean(axis=1, keepdims=True)
    inverse = 1 / np.sqrt(variance + 1e-5)
    value = deviation * inverse * w + b
    mean_error = n.gamma(cols + 1) * np.abs(a).mean(axis=1, keepdims=True) + n.u * np.abs(mean)
    deviation_error = mean_error + n.u * np.abs(deviation)
    variance_error = n.gamma(2 * cols + 8) * variance + 2 * (mean_error + n.u * np.abs(a).max(axis=1, keepdims=True)) ** 2
    relative = np.minimum(variance_error * inverse ** 2, 1) + 8 * n.u
    bound = np.abs(w) * inverse * (deviation_error * (1 + relative) + np.abs(deviation) * relative)
    return {"y": (value, n.rounded(value, bound + 4 * n.u * (np.abs(b) + np.abs(value)), 4))}


def rmsnorm(x, sizes, n):
    """x / sqrt(mean of x^2 + 1e-5) * w."""
    a, w = x["x"], x["w"]
    inverse = 1 / np.sqrt((a ** 2).mean(axis=1, keepdims=True) + 1e-5)
    value = a * inverse * w
    return {"y": (value, n.rounded(value, np.abs(value) * n.gamma(sizes["n"] + 12), 4))}
