"""Tests of rung.dot."""

import fractions
import math

import numpy
import pytest
from conftest import dtype_of, matrix

import rung

MODES = ["fast", "deterministic", "compensated", "reproducible"]


def exact(x, y):
    return sum((fractions.Fraction(float(i)) * fractions.Fraction(float(j)) for i, j in zip(x, y)), start=fractions.Fraction())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_every_dtype_and_mode(name, mode, n):
    x, y = matrix((n,), dtype_of(name), 1), matrix((n,), dtype_of(name), 2)
    roundoff = 2**-53 if name == "float64" else 2**-24
    bound = 2 * (n + 1) * roundoff * float(exact(abs(x), abs(y)))
    result = rung.dot(x, y, mode=mode)
    assert isinstance(result, float)
    assert abs(result - float(exact(x, y))) <= bound


@pytest.mark.parametrize("step_x, step_y", [(1, -1), (-1, 1), (2, -3), (-2, -2)])
def test_any_stride(step_x, step_y):
    x = matrix((12 * abs(step_x),), "float64", 1)[::step_x][:10]
    y = matrix((12 * abs(step_y),), "float64", 2)[::step_y][:10]
    assert math.isclose(rung.dot(x, y), float(x @ y), rel_tol=1e-13)


def test_reproducible_is_the_exact_sum():
    x = numpy.array([1e17, 1, -1e17, 1e-20])
    assert rung.dot(x, numpy.ones(4), mode="reproducible") == float(exact(x, numpy.ones(4)))


def test_out():
    x, out = matrix((9,), "float32", 1), numpy.zeros((), "float32")
    assert rung.dot(x, x, out=out) is out
    assert float(out) == rung.dot(x, x)
    with pytest.raises(TypeError, match="out is float64; with x of float32 it must be float32"):
        rung.dot(x, x, out=numpy.zeros(1))
    with pytest.raises(ValueError, match=r"out is \(2,\); it must have one element"):
        rung.dot(x, x, out=numpy.zeros(2, "float32"))


def test_errors():
    x = numpy.zeros(4, "float32")
    with pytest.raises(ValueError, match=r"x is \(4,\), y is \(3,\); they must have the same length"):
        rung.dot(x, x[:3])
    with pytest.raises(ValueError, match=r"x is \(2, 2\), y is \(4,\); each must have one dimension"):
        rung.dot(x.reshape(2, 2), x)
    with pytest.raises(TypeError, match="x is float32, y is float64"):
        rung.dot(x, numpy.zeros(4))
    with pytest.raises(TypeError, match="x is int32; it must be float32"):
        rung.dot(numpy.zeros(4, "int32"), numpy.zeros(4, "int32"))
    with pytest.raises(ValueError, match="mode is 'exact'; it must be 'fast'"):
        rung.dot(x, x, mode="exact")
