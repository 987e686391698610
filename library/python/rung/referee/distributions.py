"""Distributions of inputs: each finds another kind of wrong kernel. Functions of (rng, shape, dtype)."""

import numpy as np


def normal(rng, shape, dtype):
    return rng.standard_normal(shape)


def uniform(rng, shape, dtype):
    return rng.random(shape)


def integers(rng, shape, dtype):
    """Nonzero integers in [-4, 4]. Sums of products are exact in every order, so a lost or doubled term shows."""
    return rng.integers(1, 5, shape) * rng.choice([-1, 1], shape)


def precise(rng, shape, dtype):
    """Integers; a few have more bits than a half or TF32, and in float64 more than a float. Sums of them,
    each times one of `integers`, are exact in every order, so that factors rounded to a shorter type show."""
    x = integers(rng, shape, dtype).astype(np.float64)
    bits = {4: 12, 8: 30}.get(dtype.itemsize)
    if bits is not None and x.size:
        at = rng.integers(0, x.size, min(500, 1 + x.size // 16))
        x.reshape(-1)[at] = rng.choice([-1, 1], at.size) * (2 * rng.integers(1 << (bits - 2), 1 << (bits - 1), at.size) + 1)
    return x


def constant(rng, shape, dtype):
    return np.full(shape, rng.choice([-1.5, -0.25, 0.5, 3.0]))


def spread(rng, shape, dtype):
    """Exponents from 2^-20 to 2^20 (16 bits: 2^-4 to 2^4), which tell a missing small term from rounding."""
    most = 4 if dtype.itemsize == 2 else 20
    return np.ldexp(rng.uniform(1, 2, shape) * rng.choice([-1, 1], shape), rng.integers(-most, most + 1, shape))


def cancelling(rng, shape, dtype):
    """Values and their negatives, shuffled along the last axis, and a small rest."""
    x = rng.standard_normal(shape)
    if x.ndim == 0 or x.shape[-1] < 2:
        return x
    half = x.shape[-1] // 2
    x[..., half:2 * half] = -x[..., :half]
    return rng.permuted(x, axis=-1) + 1e-4 * rng.standard_normal(shape)


def denormal(rng, shape, dtype):
    """Numbers below the smallest normal one, among ordinary ones."""
    tiny = -15 if dtype == np.float16 else -128
    return np.where(rng.random(shape) < 0.5, np.ldexp(rng.standard_normal(shape), tiny), rng.standard_normal(shape))


def large(rng, shape, dtype):
    """Normal with a standard deviation of 60: exp() of such a number overflows."""
    return 60 * rng.standard_normal(shape)


def small(rng, shape, dtype):
    """Normal with a standard deviation of 2^-12 (16 bits: 2^-6): thresholds and an epsilon outweigh such numbers."""
    return np.ldexp(rng.standard_normal(shape), -6 if dtype.itemsize == 2 else -12)


def offset(rng, shape, dtype):
    """Normal around 1e4: E[x^2] - E[x]^2 cancels. 16-bit types have 64 instead."""
    return (64 if dtype.itemsize == 2 else 1e4) + rng.standard_normal(shape)


def negative(rng, shape, dtype):
    """Normal around -3e4, so that no element is near zero. 16-bit types have -64 instead."""
    return -(64 if dtype.itemsize == 2 else 3e4) + rng.standard_normal(shape)


def extreme(rng, shape, dtype):
    """Exponents of the whole range of the type, for operations that only move or compare elements."""
    most = {2: 14, 4: 126, 8: 1020}[dtype.itemsize]
    return np.ldexp(rng.uniform(1, 2, shape) * rng.choice([-1, 1], shape), rng.integers(-most, most, shape))


def sparse(rng, shape, dtype):
    """Zeros with a few ones, so that each result depends on few inputs."""
    return np.where(rng.random(shape) < 0.05, rng.standard_normal(shape), 0.0)


def ties(rng, shape, dtype):
    """Four distinct values."""
    return rng.integers(-2, 2, shape).astype(np.float64)


def zeros(rng, shape, dtype):
    """Zeros of both signs among ordinary numbers."""
    return np.where(rng.random(shape) < 0.5, rng.choice([-0.0, 0.0], shape), rng.standard_normal(shape))


def ordered(rng, shape, dtype):
    """Descending along the last axis."""
    return -np.sort(-rng.standard_normal(shape), axis=-1)


def nonfinite(rng, shape, dtype):
    """Normal with zeros, and one NaN or infinity in some rows."""
    x = np.where(rng.random(shape) < 0.1, 0.0, rng.standard_normal(shape))
    flat = x.reshape(-1)
    if flat.size:
        at = rng.integers(0, flat.size, max(1, flat.size // 400))
        flat[at] = rng.choice([np.nan, np.inf, -np.inf], at.size)
    return x


BY_NAME = {each.__name__: each for each in (normal, uniform, integers, precise, constant, spread, cancelling, denormal, large,
                                           small, offset, negative, extreme, sparse, ties, zeros, ordered, nonfinite)}
EXACT = ("integers", "precise", "ties")  # sums of products of these are exact


def numpy_dtype(name):
    """The dtype of a name, which may be "bfloat16" of package ml_dtypes."""
    if name == "bfloat16":
        import ml_dtypes
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def draw(name, rng, shape, dtype, below=None):
    """An array of the dtype with this name. Integers are in [0, below), or any of 32 bits without `below`."""
    dtype = numpy_dtype(dtype)
    if dtype.kind not in "iu":  # bfloat16 has the kind V
        with np.errstate(under="ignore", over="ignore"):
            return BY_NAME[name](rng, shape, dtype).astype(dtype)
    low, high = (0, below) if below is not None else (-(1 << 31), 1 << 31)
    if name == "constant":
        return np.full(shape, rng.integers(low, high), dtype)
    if name in ("ties", "sparse"):
        return rng.choice(rng.integers(low, high, 3), shape).astype(dtype)
    x = rng.integers(low, high, shape)
    return (-np.sort(-x) if name == "ordered" else x).astype(dtype)
