"""use(): PyTorch's own functions, routed to Rung."""

import torch
from torch.overrides import TorchFunctionMode

from . import addmm, matmul
from .operators import ROUNDED, is_hopper

_ROUTED = (torch.float32, torch.float64, *ROUNDED)


def _cast(*tensors):
    """As autocast would have them."""
    kind = "cuda" if tensors[0].is_cuda else "cpu"
    if not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(tensor.to(dtype) if tensor.dtype in _ROUTED else tensor for tensor in tensors)


def _takes(first, *others):
    if first.dtype not in _ROUTED or first.layout != torch.strided or not (first.is_cpu or first.is_cuda):
        return False
    for each in others:
        if each.dtype != first.dtype or each.layout != torch.strided or each.device != first.device:
            return False
        if type(each) is not torch.Tensor and type(each) is not torch.nn.Parameter:
            return False
    return type(first) is torch.Tensor or type(first) is torch.nn.Parameter


def _math(a):
    tf32 = a.dtype == torch.float32 and a.is_cuda and torch.backends.cuda.matmul.allow_tf32
    return "tf32" if tf32 and is_hopper(a.device.index) else "ieee"


def _route_product(dims):
    def route(a, b):
        if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or a.dim() < 2 or b.dim() < 2:
            return NotImplemented
        a, b = _cast(a, b)
        if not _takes(a, b) or a.shape[-1] != b.shape[-2] or (dims and (a.dim() != dims or b.dim() != dims)):
            return NotImplemented  # PyTorch's own error, if it is one
        return matmul(a, b, math=_math(a))

    return route


def _route_addmm(input, mat1, mat2, *, beta=1, alpha=1):
    input, mat1, mat2 = _cast(input, mat1, mat2)
    if not _takes(mat1, mat2, input) or mat1.dim() != 2 or mat2.dim() != 2 or mat1.shape[1] != mat2.shape[0]:
        return NotImplemented
    return addmm(input, mat1, mat2, beta=beta, alpha=alpha, math=_math(mat1))


def _route_linear(input, weight, bias=None):
    tensors = _cast(*((input, weight) if bias is None else (input, weight, bias)))
    input, weight = tensors[:2]
    if not _takes(*tensors) or input.dim() < 2 or weight.dim() != 2 or input.shape[-1] != weight.shape[1]:
        return NotImplemented
    if bias is None:
        return matmul(input, weight.t(), math=_math(input))
    if input.dim() == 2:
        return addmm(tensors[2], input, weight.t(), math=_math(input))
    rows = input.reshape(-1, input.shape[-1])
    result = addmm(tensors[2], rows, weight.t(), math=_math(input))
    return result.view(*input.shape[:-1], weight.shape[0])


_ROUTES = {
    torch.mm: _route_product(2),
    torch.Tensor.mm: _route_product(2),
    torch.bmm: _route_product(3),
    torch.Tensor.bmm: _route_product(3),
    torch.matmul: _route_product(None),
    torch.Tensor.matmul: _route_product(None),
    torch.Tensor.__matmul__: _route_product(None),
    torch.addmm: _route_addmm,
    torch.Tensor.addmm: _route_addmm,
    torch.nn.functional.linear: _route_linear,
}


class use(TorchFunctionMode):
    """A context in which torch.mm, bmm, matmul, @, addmm and nn.functional.linear (nn.Linear) call Rung.

    For float32, float64, bfloat16 and float16 on the CPU and CUDA; all else goes to PyTorch as before:
    vectors, sparse and quantized tensors, subclasses of Tensor, and calls with out=. Under autocast,
    operands are cast as PyTorch casts them. float32 on CUDA obeys torch.backends.cuda.matmul.allow_tf32.
    """

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        route = _ROUTES.get(function)
        if route is not None and "out" not in keywords:
            result = route(*arguments, **keywords)
            if result is not NotImplemented:
                return result
        return function(*arguments, **keywords)
