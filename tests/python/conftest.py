"""Fixtures: random matrices of every element type and layout."""

import ml_dtypes
import numpy
import pytest

CPU_DTYPES = ["float32", "float64", "int32", "bfloat16", "float16"]
UNIT_ROUNDOFF = {"float32": 2**-24, "float64": 2**-53}


def dtype_of(name):
    return numpy.dtype(getattr(ml_dtypes, name) if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else name)


def matrix(shape, dtype, seed):
    random = numpy.random.default_rng(seed)
    if numpy.dtype(dtype).kind == "i":
        return random.integers(-50, 50, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


LAYOUTS = {
    "rows": lambda a: a,
    "columns": lambda a: numpy.asfortranarray(a),
    "transposed view": lambda a: numpy.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2),
    "wide rows": lambda a: _inside(a, (0, 3), 1),
    "every other row": lambda a: _inside(a, (a.shape[-2], 0), 2),
    "every other column": lambda a: _inside(a.swapaxes(-1, -2), (a.shape[-1], 0), 2).swapaxes(-1, -2),
    "rows from the end": lambda a: numpy.ascontiguousarray(a[..., ::-1, :])[..., ::-1, :],
    "columns from the end": lambda a: numpy.ascontiguousarray(a[..., ::-1])[..., ::-1],
    "every second of both": lambda a: numpy.repeat(numpy.repeat(a, 2, -1), 2, -2)[..., ::2, ::2],
}


def _inside(a, more, step):
    """A view of a larger array, with the elements of `a`."""
    shape = (*a.shape[:-2], a.shape[-2] + more[0], a.shape[-1] + more[1])
    large = numpy.zeros(shape, a.dtype)
    view = large[..., : a.shape[-2] * step : step, : a.shape[-1]]
    view[...] = a
    return view


def expected(a, b):
    """The product a @ b, and the largest error allowed for an element."""
    if a.dtype.kind == "i":
        return a.astype(numpy.int64) @ b.astype(numpy.int64), 0
    wide = numpy.float64 if a.dtype != numpy.float64 else numpy.longdouble
    a, b, name = a.astype(wide), b.astype(wide), str(a.dtype)
    roundoff = UNIT_ROUNDOFF["float64" if name == "float64" else "float32"]
    return a @ b, 2 * (a.shape[-1] + 2) * roundoff * (abs(a) @ abs(b))


def check_product(result, a, b):
    right, bound = expected(a, b)
    assert result.shape == right.shape
    assert numpy.all(abs(result.astype(right.dtype) - right) <= bound)


@pytest.fixture(params=CPU_DTYPES)
def dtype(request):
    return dtype_of(request.param)


@pytest.fixture(params=LAYOUTS, ids=lambda name: name.replace(" ", "_"))
def layout(request):
    return LAYOUTS[request.param]
