"""References of sums of products: gemm, dot, conv, attention."""

import numpy as np


def _sum_bound(n, depth, magnitude):
    """|error| of a sum of `depth` products in any order (Higham, equation 3.5), and of TF32 factors."""
    return (n.gamma(depth + 1) + 2 * n.product + n.product ** 2) * magnitude


def gemm(x, sizes, n):
    a, b = x["a"], x["b"]
    value = a @ b
    return {"c": (value, n.rounded(value, _sum_bound(n, sizes["k"], np.abs(a) @ np.abs(b)), sizes["k"] + 1))}


def gemm_nt(x, sizes, n):
    """c = a bᵀ: b has n rows of k elements, as the weights of a linear layer."""
    return gemm({"a": x["a"], "b": x["b"].T}, sizes, n)


def gemv(x, sizes, n):
    value = x["a"] @ x["x"]
    return {"y": (value, n.rounded(value, _sum_bound(n, sizes["n"], np.abs(x["a"]) @ np.abs(x["x"])), sizes["n"] + 1))}


def dot(x, sizes, n):
    value = np.array([x["x"] @ x["y"]])
    magnitude = np.array([np.abs(x["x"]) @ np.abs(x["y"])])
    return {"result": (value, n.rounded(value, _sum_bound(n, sizes["n"], magnitude), sizes["n"] + 1))}


def conv1d(x, sizes, n):
    """Cross-correlation without padding: y[i] = sum over j of x[i + j] w[j]."""
    windows = np.lib.stride_tricks.sliding_window_view(x["x"], sizes["k"])
    value = windows @ x["w"]
    return {"y": (value, n.rounded(value, _sum_bound(n, sizes["k"], np.abs(windows) @ np.abs(x["w"])), sizes["k"] + 1))}


def conv2d(x, sizes, n):
    """Cross-correlation of one image without padding."""
    windows = np.lib.stride_tricks.sliding_window_view(x["x"], (sizes["r"], sizes["s"]))
    value = np.einsum("hwrs,rs->hw", windows, x["w"])
    magnitude = np.einsum("hwrs,rs->hw", np.abs(windows), np.abs(x["w"]))
    depth = sizes["r"] * sizes["s"]
    return {"y": (value, n.rounded(value, _sum_bound(n, depth, magnitude), depth + 1))}


def attention(x, sizes, n):
    """softmax(q kᵀ / sqrt(d)) v, for one head.

    A score has the error of a sum and is then an exponent, so its absolute error is the relative error of a weight. A
    weight's error moves the result by itself and by the sum of weights.
    """
    q, k, v = x["q"], x["k"], x["v"]
    scale = sizes["d"] ** -0.5
    scores = q @ k.T * scale
    score_error = _sum_bound(n, sizes["d"] + 2, np.abs(q) @ np.abs(k).T * scale)
    shifted = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(shifted)
    weights /= weights.sum(axis=1, keepdims=True)
    most = score_error.max(axis=1, keepdims=True)  # the error of the maximum
    relative = score_error + most + n.u * (16 + 2 * np.abs(shifted)) + n.gamma(2 * sizes["n"]) + n.product
    relative = np.expm1(np.minimum(relative, 50))
    value = weights @ v
    bound = (weights * (relative + (weights * relative).sum(axis=1, keepdims=True))) @ np.abs(v)
    bound += _sum_bound(n, sizes["n"] + 2, weights @ np.abs(v))
    return {"o": (value, n.rounded(value, bound, (sizes["n"] + 1) * (1 + np.abs(v).sum(axis=0))))}
