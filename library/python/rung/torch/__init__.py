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


def _matmul_of_vectors(a, b, options):
    """The product if a or b has a single dimension: a row as a, or a column as b."""
    if a.dim() == 0 or b.dim() == 0:
        raise operators.ShapeError(f"rung: matmul: a is {tuple(a.shape)}, b is {tuple(b.shape)}; "
                                   "each must have at least one dimension")
    is_row, is_column = a.dim() == 1, b.dim() == 1
    result = matmul(a.unsqueeze(0) if is_row else a, b.unsqueeze(1) if is_column else b, **options)
    if is_column:
        result = result.squeeze(-1)
    return result.squeeze(-1 if is_column else -2) if is_row else result


def _matmul_into(out, a, b, math):
    if torch.is_grad_enabled() and any(each.requires_grad for each in (a, b, out)):
        raise RuntimeError("rung: matmul: out= has no derivative, and an argument requires grad; leave out= away, or "
                           "use torch.no_grad()")
    if a.dim() > 1 < b.dim() and way(a, b, out) == KERNEL:
        return operators.multiply_into(out, a, b, math=math)
    result = matmul(a, b, math=math, out_dtype=out.dtype)
    if out.shape != result.shape:
        raise operators.ShapeError(f"rung: matmul: out is {tuple(out.shape)}; it must be {tuple(result.shape)}")
    return out.copy_(result)


def matmul(a, b, *, math="ieee", out_dtype=None, out=None):
    """a @ b for tensors of shapes (..., m, k) and (..., k, n), with autograd. Vectors are as for torch.matmul.

    Parameters
    ----------
    a, b : torch.Tensor
        Tensors of the same dtype. Batch dimensions are broadcast. Under autocast, they are cast as by
        torch.matmul, unless `math` is given.
    math : str
        As for rung.matmul.
    out_dtype : torch.dtype, optional
        The dtype of the result; by default that of a, int32 for int8, and float32 for 8-bit floats.
    out : torch.Tensor, optional
        A tensor of the result's shape, which is written and returned. Without autograd.

    Returns
    -------
    torch.Tensor
        A tensor of shape (..., m, n). Floating-point products are accumulated in float32, or in float64 for
        float64, and rounded once.

    Raises
    ------
    TypeError
        If the dtypes differ. This and the next are RuntimeErrors, too, as of torch.matmul.
    ValueError
        If the shapes do not match.
    """
    if out is not None:
        return _matmul_into(out, a, b, math)
    if a.dim() < 2 or b.dim() < 2:
        return _matmul_of_vectors(a, b, {"math": math, "out_dtype": out_dtype})
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
