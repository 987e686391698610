"""rung.Epilogue"""

import dataclasses
import typing


@dataclasses.dataclass(kw_only=True)
class Epilogue:
    """The operations on each element s of the product in matmul(a, b, epilogue=...) before it is stored.

    Operations whose parameter is None are omitted. The others are computed in this order, in float64 for
    float64 operands and in float32 for all others:

        t = alpha * scale_a * scale_b * s * row_scale[row] * column_scale[column]
        t = t + beta * out[row, column] + row_bias[row] + column_bias[column]
        aux[row, column] = t
        u = activation(t); if gated, u[row, j] = activation(t[row, 2 j]) * t[row, 2 j + 1]
        v = u + residual[row, column]
        amax = max(amax, |v|)
        out[row, column] = result_factor * result_scale * v

    Parameters
    ----------
    row_scale, column_scale : array of shape (m,) and (n,), optional
        float32; float64 for float64 operands.
    row_bias, column_bias : array of shape (m,) and (n,), optional
        As row_scale and column_scale; also bfloat16 and float16.
    activation : {'none', 'relu', 'gelu_tanh', 'gelu_erf', 'silu'}
    gated : bool
        If True, out has n / 2 columns, one for each pair of adjacent columns of the product: the gate, then
        the value.
    aux : array of shape (m, n), optional
        An output.
    residual : array of the shape of out, optional
    scale_a, scale_b, result_scale : array of one float32 on the device of a, optional
    result_factor : float
    amax : array of one float32 on the device of a, optional
        Updated to the maximum of its value and all |v|.
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
