"""Rung for PyTorch: `matmul` and `addmm` as operators, and `use()`, which routes PyTorch's own to them.

>>> import torch, rung.torch
>>> layer = torch.nn.Linear(3, 2)
>>> with rung.torch.use():
...     layer(torch.ones(4, 3)).shape
torch.Size([4, 2])

The operators are torch.ops.rung.matmul and torch.ops.rung.addmm: they have autograd, and torch.compile
does not break its graph at them.
"""

import torch

from . import operators
from .dispatch import FUNCTION, KERNEL, TRANSFORM, way
from .functions import Addmm, Matmul, TransformedAddmm, TransformedMatmul

__all__ = ["addmm", "matmul", "use"]


def matmul(a, b, *, math="ieee", out_dtype=None):
    """a @ b for tensors of shapes (..., m, k) and (..., k, n), with autograd.

    The result has the dtype of a (int32 for int8, float32 for 8-bit floats), or out_dtype. Sums are
    float32, or float64 for float64, and are rounded once. `math` is as for rung.matmul.
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
    """beta * input + alpha * (a @ b) for matrices a (m, k) and b (k, n), and an input that broadcasts to
    (m, n), with autograd."""
    chosen = way(input, a, b)
    if chosen == KERNEL:
        return operators.multiply_and_add(input, a, b, beta=beta, alpha=alpha, math=math)
    if chosen == FUNCTION:
        return Addmm.apply(input, a, b, beta, alpha, math)
    if chosen == TRANSFORM:
        return TransformedAddmm.apply(input, a, b, beta, alpha, math)
    return torch.ops.rung.addmm(input, a, b, beta=beta, alpha=alpha, math=math)


from .routes import use  # noqa: E402  which calls these
