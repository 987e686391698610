"""Rung for PyTorch: `matmul` and `addmm` as operators, and `use()`, which routes PyTorch's own to them.

>>> import torch, rung.torch
>>> layer = torch.nn.Linear(3, 2)
>>> with rung.torch.use():
...     layer(torch.ones(4, 3)).shape
torch.Size([4, 2])

The operators are torch.ops.rung.matmul and torch.ops.rung.addmm: they have autograd, and torch.compile
does not break its graph at them.
"""

import functools

import torch
from torch.overrides import TorchFunctionMode

from . import _core

__all__ = ["addmm", "matmul", "use"]

_library = torch.library.Library("rung", "DEF")
_library.define("matmul(Tensor a, Tensor b, *, str math='ieee', ScalarType? out_dtype=None) -> Tensor")
_library.define("addmm(Tensor input, Tensor a, Tensor b, *, float beta=1, float alpha=1, str math='ieee') -> Tensor")

_ROUNDED = (torch.bfloat16, torch.float16)
_ROUTED = (torch.float32, torch.float64, *_ROUNDED)


@functools.cache
def _is_hopper(index):
    return torch.cuda.get_device_capability(index) == (9, 0)


def _sums(dtype):
    """What the library sums in."""
    if dtype == torch.float64:
        return torch.float64
    return torch.int32 if dtype in (torch.int32, torch.int8) else torch.float32


def _default_result(dtype):
    return _sums(dtype) if dtype.itemsize == 1 else dtype


def _writable(dtype, a):
    """The dtype of what the library writes, to be converted to `dtype`."""
    stores_rounded = dtype in _ROUNDED and dtype == a.dtype and a.is_cuda and _is_hopper(a.device.index)
    return dtype if stores_rounded else _sums(a.dtype)


def _shape(a, b):
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, a.shape[-2], b.shape[-1])


def _check(a, b):
    if a.dim() < 2 or b.dim() < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"rung: matmul: a is {tuple(a.shape)}, b is {tuple(b.shape)}; the columns of a must be as "
                         "many as the rows of b")
    if a.dtype != b.dtype:
        raise TypeError(f"rung: matmul: a is {a.dtype}, b is {b.dtype}; they must have the same dtype")


def _multiply(a, b, **keywords):
    """rung.matmul, on the GPU of a."""
    if a.is_cuda and a.device.index != torch.cuda.current_device():
        with torch.cuda.device(a.device):
            return _core.matmul(a, b, **keywords)
    return _core.matmul(a, b, **keywords)


def _matmul(a, b, *, math="ieee", out_dtype=None):
    _check(a, b)
    dtype = out_dtype or _default_result(a.dtype)
    shape = _shape(a, b)
    if a.dim() > 2 and b.dim() == 2:  # one product with the rows of all
        a = a.reshape(-1, a.shape[-1])
    result = torch.empty(shape, dtype=_writable(dtype, a), device=a.device)
    out = result.view(a.shape[0], b.shape[-1]) if a.dim() == 2 and b.dim() == 2 else result
    _multiply(a.detach(), b.detach(), out=out, math=math)
    return result if result.dtype == dtype else result.to(dtype)


def _addmm(input, a, b, *, beta=1, alpha=1, math="ieee"):
    _check(a, b)
    writable = _writable(a.dtype, a)
    result = torch.empty(_shape(a, b), dtype=writable, device=a.device)
    if beta != 0:
        result.copy_(input.detach())  # broadcast
    _multiply(a.detach(), b.detach(), out=result, alpha=alpha, beta=beta, math=math)
    return result if writable == a.dtype else result.to(a.dtype)


def _matmul_fake(a, b, *, math="ieee", out_dtype=None):
    _check(a, b)
    return a.new_empty(_shape(a, b), dtype=out_dtype or _default_result(a.dtype))


def _addmm_fake(input, a, b, *, beta=1, alpha=1, math="ieee"):
    _check(a, b)
    return a.new_empty(_shape(a, b))


def _gradients(ctx, gradient, a, b):
    """Those of a and b, of their dtypes, summed over what was broadcast."""
    multiply = functools.partial(torch.ops.rung.matmul, math=ctx.math)
    of_a = of_b = None
    gradient = gradient.to(a.dtype)
    if ctx.needs_input_grad[ctx.first]:
        of_a = multiply(gradient, b.transpose(-1, -2)).sum_to_size(a.shape)
    if ctx.needs_input_grad[ctx.first + 1]:
        of_b = multiply(a.transpose(-1, -2), gradient).sum_to_size(b.shape)
    return of_a, of_b


def _matmul_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.save_for_backward(*inputs)
    ctx.math, ctx.first = keyword_only_inputs["math"], 0


def _matmul_backward(ctx, gradient):
    return _gradients(ctx, gradient, *ctx.saved_tensors)


def _addmm_setup(ctx, inputs, keyword_only_inputs, output):
    input, a, b = inputs
    ctx.save_for_backward(a, b)
    ctx.shape, ctx.first = input.shape, 1
    for name, value in keyword_only_inputs.items():
        setattr(ctx, name, value)


def _addmm_backward(ctx, gradient):
    of_input = (ctx.beta * gradient).sum_to_size(ctx.shape) if ctx.needs_input_grad[0] else None
    scaled = gradient if ctx.alpha == 1 else ctx.alpha * gradient
    return of_input, *_gradients(ctx, scaled, *ctx.saved_tensors)


for _key in ("CPU", "CUDA"):
    _library.impl("matmul", _matmul, _key)
    _library.impl("addmm", _addmm, _key)
torch.library.register_fake("rung::matmul", _matmul_fake, lib=_library)
torch.library.register_fake("rung::addmm", _addmm_fake, lib=_library)
torch.library.register_autograd("rung::matmul", _matmul_backward, setup_context=_matmul_setup, lib=_library)
torch.library.register_autograd("rung::addmm", _addmm_backward, setup_context=_addmm_setup, lib=_library)


def matmul(a, b, *, math="ieee", out_dtype=None):
    """a @ b for tensors of shapes (..., m, k) and (..., k, n), with autograd.

    The result has the dtype of a (int32 for int8, float32 for 8-bit floats), or out_dtype. Sums are
    float32, or float64 for float64, and are rounded once. `math` is as for rung.matmul.
    """
    return torch.ops.rung.matmul(a, b, math=math, out_dtype=out_dtype)


def addmm(input, a, b, *, beta=1, alpha=1, math="ieee"):
    """beta * input + alpha * (a @ b) for matrices a (m, k) and b (k, n), and an input that broadcasts to
    (m, n), with autograd."""
    return torch.ops.rung.addmm(input, a, b, beta=beta, alpha=alpha, math=math)


def _cast(*tensors):
    """As autocast would have them."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(tensor.to(dtype) if tensor.dtype in _ROUTED else tensor for tensor in tensors)


def _takes(*tensors):
    first = tensors[0]
    return all(
        type(each) in (torch.Tensor, torch.nn.Parameter)
        and each.layout == torch.strided
        and each.device == first.device
        and each.dtype == first.dtype
        for each in tensors
    ) and first.dtype in _ROUTED and first.device.type in ("cpu", "cuda")


def _math(a):
    tf32 = a.dtype == torch.float32 and a.is_cuda and torch.backends.cuda.matmul.allow_tf32
    return "tf32" if tf32 and _is_hopper(a.device.index) else "ieee"


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
