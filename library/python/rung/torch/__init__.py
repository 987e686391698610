"""Rung for PyTorch: the operators `matmul` and `addmm`, and `use()`, which routes PyTorch's products to Rung.

>>> import torch, rung.torch
>>> layer = torch.nn.Linear(3, 2)
>>> with rung.torch.use():
...     layer(torch.ones(4, 3)).shape
torch.Size([4, 2])

The operators are torch.ops.rung.matmul and torch.ops.rung.addmm. They support autograd, and
torch.compile traces them without a graph break.
"""

import torch

from . import operators
from .dispatch import FUNCTION, KERNEL, TRANSFORM, way
from .functions import Addmm, Matmul, TransformedAddmm, TransformedMatmul

__all__ = ["addmm", "matmul", "use"]


def matmul(a, b, *, math="ieee", out_dtype=None):
    """a @ b for tensors of shapes (..., m, k) and (..., k, n), with autograd.

    Parameters
    ----------
    a, b : torch.Tensor
        Tensors of the same dtype. Batch dimensions are broadcast. Under autocast, they are cast as by
        torch.matmul, unless `math` is given.
    math : str
        As for rung.matmul.
    out_dtype : torch.dtype, optional
        The dtype of the result; by default that of a, int32 for int8, and float32 for 8-bit floats.

    Returns
    -------
    torch.Tensor
        A tensor of shape (..., m, n). Floating-point products are accumulated in float32, or in float64 for
        float64, and rounded once.

    Raises
    ------
    TypeError
        If the dtypes differ.
    ValueError
        If the shapes do not match.
    """
    chosen = way(a, b)
    if chosen == KERNEL:
        return operators.multiply(a, b, math=math, out_dtype=out_dtype)
    if chosen == FUNCTION:
        return Matmul.apply(a, b, math, out_dtype)
    if chosen == TRANSFORM:
        return TransformedMatmul.apply(a, b, math, out_dtype)
    return torch.ops.rung.matmul(a, b, math=math, out_dtype=out_dtype)


def addmm(input, a, b, *, beta=1, alpha=1, math="ieee"):
    """beta * input + alpha * (a @ b) for matrices a of shape (m, k) and b of shape (k, n).

    `input` is broadcast to (m, n). Dtypes, `math`, autograd, autocast and errors are as for matmul.
    """
    chosen = way(input, a, b)
    if chosen == KERNEL:
        return operators.multiply_and_add(input, a, b, beta=beta, alpha=alpha, math=math)
    if chosen == FUNCTION:
        return Addmm.apply(input, a, b, beta, alpha, math)
    if chosen == TRANSFORM:
        return TransformedAddmm.apply(input, a, b, beta, alpha, math)
    return torch.ops.rung.addmm(input, a, b, beta=beta, alpha=alpha, math=math)


from .routes import use  # noqa: E402  it imports the functions above
