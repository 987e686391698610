"""rung.matmul with an epilogue, on NumPy arrays."""

import numpy
import pytest
from conftest import matrix

import rung
from rung import Epilogue

ml_dtypes = pytest.importorskip("ml_dtypes")


def silu(x):
    return x / (1 + numpy.exp(-x))


ACTIVATIONS = {
    "none": lambda x: x,
    "relu": lambda x: numpy.maximum(x, 0),
    "gelu_tanh": lambda x: x / 2 * (1 + numpy.tanh(0.7978845608028654 * (x + 0.044715 * x**3))),
    "silu": silu,
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_bias_and_activation(activation, dtype):
    a, b = matrix((5, 7), dtype, 1), matrix((7, 6), dtype, 2)
    bias = matrix((6, 1), dtype, 3)[:, 0].copy()
    sums = a.astype("float64") @ b.astype("float64") + bias
    aux = numpy.empty((5, 6), dtype)
    result = rung.matmul(a, b, epilogue=Epilogue(column_bias=bias, activation=activation, aux=aux))
    assert result.dtype == ("float64" if dtype == "float64" else "float32")
    assert numpy.allclose(result, ACTIVATIONS[activation](sums), rtol=1e-5, atol=1e-5)
    assert numpy.allclose(aux, sums, rtol=1e-2 if dtype == "float16" else 1e-5)


def test_every_other_part():
    a, b, residual = (matrix(shape, "float32", seed) for seed, shape in enumerate([(4, 3), (3, 6), (4, 3)], 1))
    rows = numpy.arange(1, 5, dtype="float32")
    columns = numpy.arange(1, 7, dtype="float32")
    scale, amax = numpy.array([0.5], "float32"), numpy.zeros(1, "float32")
    out = numpy.empty((4, 3), ml_dtypes.bfloat16)
    parts = Epilogue(row_scale=rows, column_scale=columns, row_bias=rows, activation="silu", gated=True,
                     residual=residual, scale_a=scale, result_scale=scale, result_factor=0.25, amax=amax)
    assert rung.matmul(a, b, out=out, epilogue=parts) is out
    t = (a @ b).astype("float64") * 0.5 * rows[:, None] * columns + rows[:, None]
    v = silu(t[:, ::2]) * t[:, 1::2] + residual
    assert numpy.allclose(amax[0], numpy.abs(v).max(), rtol=1e-5)
    assert numpy.allclose(out.astype("float64"), 0.125 * v, rtol=2**-7)


def test_eight_bits_saturate():
    a = numpy.full((1, 1), 1e6, "float32")
    for dtype, largest in [(ml_dtypes.float8_e4m3fn, 448), (ml_dtypes.float8_e5m2, 57344), (numpy.int8, 127)]:
        out = numpy.zeros((1, 1), dtype)
        rung.matmul(a, a, out=out, epilogue=Epilogue())
        assert float(out[0, 0]) == largest


def test_errors_name_the_part():
    a = numpy.ones((2, 2), "float32")
    for parts, message in [
        (Epilogue(column_bias=numpy.ones(3, "float32")), "column_bias has 3 elements; it must have 2"),
        (Epilogue(activation="swish"), "activation is 'swish'"),
        (Epilogue(amax=numpy.zeros(2, "float32")), r"amax is \(2,\) of float32; it must be one float32"),
        (Epilogue(residual=numpy.ones(2, "float32")), r"residual is \(2,\); with an epilogue it must have two"),
    ]:
        with pytest.raises(ValueError, match=message):
            rung.matmul(a, a, epilogue=parts)
    for parts, message in [
        (Epilogue(activation=3), "activation is 3; it must be a str"),
        (Epilogue(activation=None), "activation is None; it must be a str"),
        (Epilogue(gated="yes"), "gated is 'yes'; it must be a bool"),
        (Epilogue(gated=None), "gated is None; it must be a bool"),
        (Epilogue(result_factor="2"), "result_factor is '2'; it must be a float"),
        (Epilogue(result_factor=None), "result_factor is None; it must be a float"),
        (Epilogue(scale_a=0.5), "scale_a is float; it must be an array"),
        (Epilogue(amax=[0.0]), "amax is list; it must be an array"),
        (Epilogue(residual="r"), "residual is str; it must be an array"),
        (3, "epilogue is 3; it must be a rung.Epilogue"),
        ({"activation": "relu"}, "epilogue is {'activation': 'relu'}; it must be a rung.Epilogue"),
    ]:
        with pytest.raises(TypeError, match=message):
            rung.matmul(a, a, epilogue=parts)
    with pytest.raises(ValueError, match=r"a is \(2, 2, 2\); with an epilogue it must have two dimensions"):
        rung.matmul(numpy.ones((2, 2, 2), "float32"), a, epilogue=Epilogue())
