"""rung.block_scaled_matmul compared with NumPy's sums in double. test_gpu.py tests it on a GPU."""

import ml_dtypes
import numpy
import pytest

import rung

E4M3 = ml_dtypes.float8_e4m3fn


def operand(shape, scales_shape, seed):
    random = numpy.random.default_rng(seed)
    elements = random.integers(-8, 9, shape).astype("float32").astype(E4M3)
    return elements, 2.0 ** random.integers(-3, 4, scales_shape).astype("float32")


def left(m, k, seed):
    return operand((m, k), (m, -(-k // 128)), seed)


def right(k, n, seed, *groups):
    return operand((*groups, k, n), (*groups, -(-k // 128), -(-n // 128)), seed)


def scaled(elements, scales, rows):
    """The matrix in double: each element times the scale of its block of `rows` x 128."""
    for axis, step in ((-2, rows), (-1, 128)):
        scales = numpy.repeat(scales, step, axis)
    return elements.astype("float64") * scales[..., : elements.shape[-2], : elements.shape[-1]]


def product(a, b):
    return scaled(*a, 1) @ scaled(*b, 128)


def test_product():
    a, b = left(5, 300, 1), right(300, 140, 2)
    result = rung.block_scaled_matmul(*a, *b)
    assert result.dtype == numpy.float32
    numpy.testing.assert_array_equal(result, product(a, b))  # exact: integers times powers of two
    out = numpy.ones((5, 140), "float32")
    assert rung.block_scaled_matmul(*a, *b, out=out, alpha=2, beta=3, math="batch_invariant") is out
    numpy.testing.assert_array_equal(out, 2 * product(a, b) + 3)


def test_transposed_weights_and_rounded_results():
    a, b = left(3, 256, 1), right(256, 128, 2)
    views = [numpy.ascontiguousarray(each.T).T for each in b]
    out = rung.block_scaled_matmul(*a, *views, out=numpy.zeros((3, 128), ml_dtypes.bfloat16))
    numpy.testing.assert_array_equal(out, product(a, b).astype("float32").astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize("offsets", [[0, 3, 3, 7], numpy.array([0, 0, 7, 7])])
def test_groups(offsets):
    a, b = left(7, 130, 1), right(130, 20, 2, 3)
    result = rung.block_scaled_matmul(*a, *b, offsets=offsets)
    for group, (start, end) in enumerate(zip(offsets, offsets[1:])):
        numpy.testing.assert_array_equal(result[start:end], product([x[start:end] for x in a], [x[group] for x in b]))


@pytest.mark.parametrize("change, error, text", [
    ({"a": numpy.ones((2, 256), "float32")}, TypeError, "a is float32, b is float8_e4m3fn; they must have the same dtype"),
    ({"a": numpy.ones((2, 256), "float32"), "b": numpy.ones((256, 4), "float32")}, TypeError, "a is float32; it must be float8_e4m3fn"),
    ({"a": numpy.ones((256,), E4M3)}, ValueError, r"a is \(256,\), b is \(256, 4\); a must have two dimensions, and b two without"),
    ({"a_scales": numpy.ones((2, 3), "float32")}, ValueError, "the scales of A are 2 x 3; they must be 2 x 2"),
    ({"b_scales": numpy.ones((2, 1))}, ValueError, "rung: gemm: B_scales is f64; it must be f32"),
    ({"offsets": [0, 2]}, ValueError, "b is .*; a must have two dimensions, and b three with offsets"),
    ({"beta": 1}, ValueError, "beta is 1, and there is no out"),
    ({"out": numpy.ones((2, 5), "float32")}, ValueError, r"out is \(2, 5\); the product is \(2, 4\)"),
    ({"out": numpy.ones((2, 4), "float64")}, ValueError, "C is of another type; it must be float or bfloat16"),
    ({"math": "split"}, ValueError, "math is 'split'; it must be 'ieee' or 'batch_invariant'"),
])
def test_errors(change, error, text):
    given = {"a": numpy.ones((2, 256), E4M3), "a_scales": numpy.ones((2, 2), "float32"),
             "b": numpy.ones((256, 4), E4M3), "b_scales": numpy.ones((2, 1), "float32")}
    with pytest.raises(error, match=text):
        rung.block_scaled_matmul(**{**given, **change})
