"""rung.Epilogue"""

import dataclasses
import typing


@dataclasses.dataclass(kw_only=True)
class Epilogue:
    """What becomes of each sum s of matmul(a, b, epilogue=...) before it is stored. None: there is no such part.

    In this order, in float32, or in float64 for float64:

        t = alpha * scale_a * scale_b * s * row_scale[row] * column_scale[column]
        t = t + beta * out[row, column] + row_bias[row] + column_bias[column]
        aux[row, column] = t
        u = activation(t); or, gated, u[row, j] = activation(t[row, 2 j]) * t[row, 2 j + 1]
        v = u + residual[row, column]
        amax = max(amax, |v|)
        out[row, column] = result_factor * result_scale * v

    Parameters
    ----------
    row_scale, column_scale : arrays of shape (m,) and (n,), float32 (float64 for float64)
    row_bias, column_bias : the same; also bfloat16 and float16
    activation : {'none', 'relu', 'gelu_tanh', 'gelu_erf', 'silu'}
    gated : bool
        out has n / 2 columns, of pairs of neighbouring columns of the product: the gate, then the value.
    aux : array of shape (m, n), written
    residual : array of the shape of out
    scale_a, scale_b, result_scale : arrays of one float32, on the device of a
    result_factor : float
    amax : array of one float32, on the device of a, which is raised
    """

    row_scale: typing.Any = None
    column_scale: typing.Any = None
    row_bias: typing.Any = None
    column_bias: typing.Any = None
    activation: str = "none"
    gated: bool = False
    aux: typing.Any = None
    residual: typing.Any = None
    scale_a: typing.Any = None
    scale_b: typing.Any = None
    result_scale: typing.Any = None
    result_factor: float = 1.0
    amax: typing.Any = None
