"""The operators torch.ops.rung.matmul and torch.ops.rung.addmm: their kernels, fake tensors, autograd and autocast."""

import functools

import torch

from .. import _core

_library = torch.library.Library("rung", "DEF")
_library.define("matmul(Tensor a, Tensor b, *, str math='ieee', ScalarType? out_dtype=None) -> Tensor")
_library.define("addmm(Tensor input, Tensor a, Tensor b, *, float beta=1, float alpha=1, str math='ieee') -> Tensor")

ROUNDED = (torch.bfloat16, torch.float16)

# The accumulation type by operand type, and the default result type; float32 and the operand type for all others.
_SUMS = {torch.float64: torch.float64, torch.int32: torch.int32, torch.int8: torch.int32}
_WRITTEN = (torch.float32, torch.float64, torch.int32)  # results of the operands' type, whatever the device
_NARROW = {torch.int8: torch.int32, torch.float8_e4m3fn: torch.float32, torch.float8_e5m2: torch.float32}


@functools.cache
def is_hopper(index):
    return torch.cuda.get_device_capability(index) == (9, 0)


def writes_rounded(a, dtype):
    """True if the library's GEMM rounds the result to the dtype of a: for bfloat16 and float16 on sm_90 GPUs."""
    return a.is_cuda and dtype == a.dtype and dtype in ROUNDED and is_hopper(a.device.index)


def _shape(a, b):
    if a.dim() == 2 and b.dim() == 2:  # broadcast_shapes takes 10 us
        return (a.shape[0], b.shape[1])
    return (*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])


class DtypeError(TypeError, RuntimeError):
    """A TypeError of rung.matmul, and a RuntimeError as PyTorch raises."""


class ShapeError(ValueError, RuntimeError):
    """A ValueError of rung.matmul, and a RuntimeError as PyTorch raises."""


def _check(a, b):
    """Raises the same errors as rung.matmul."""
    shapes = f"rung: matmul: a is {tuple(a.shape)}, b is {tuple(b.shape)}"
    if a.dtype != b.dtype:
        of_a, of_b = (str(each.dtype).removeprefix("torch.") for each in (a, b))
        raise DtypeError(f"rung: matmul: a is {of_a}, b is {of_b}; they must have the same dtype")
    if a.dim() < 2 or b.dim() < 2:
        raise ShapeError(shapes + "; each must have at least two dimensions")
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(shapes + "; the columns of a must be as many as the rows of b")


def call(a, function, *arguments):
    """Calls function(a, *arguments) with the GPU of a as the current device."""
    try:
        if a.is_cuda and torch.cuda.device_count() > 1 and a.device.index != torch.cuda.current_device():
            with torch.cuda.device(a.device):
                return function(a, *arguments)
        return function(a, *arguments)
    except TypeError as error:
        raise DtypeError(*error.args) from None
    except ValueError as error:
        raise ShapeError(*error.args) from None


def multiply(a, b, *, math="ieee", out_dtype=None):
    """The kernel of torch.ops.rung.matmul."""
    if a.dim() < 2 or b.dim() < 2:
        _check(a, b)  # the library checks everything else
    dtype = out_dtype or _NARROW.get(a.dtype, a.dtype)
    shape = None
    if a.dim() > 2 and b.dim() == 2 and not a.is_contiguous():  # one product with all rows of a
        shape, a = (*a.shape[:-1], b.shape[-1]), a.flatten(0, -2)
    elif a.is_cuda and a.dim() == b.dim() > 3 and a.shape[:-2] == b.shape[:-2]:  # one batched launch
        shape, a, b = (*a.shape[:-1], b.shape[-1]), a.flatten(0, -3), b.flatten(0, -3)
    result = call(a, _core._matmul_of_tensors, b, None, 1.0, 0.0, math, writes_rounded(a, dtype))
    if result.dtype != dtype:
        result = result.to(dtype)
    return result if shape is None else result.view(shape)


def multiply_into(out, a, b, *, math="ieee"):
    """a @ b in `out`, without autograd."""
    if out.dtype == a.dtype and out.dtype in _WRITTEN:
        call(a, _core._matmul_of_tensors, b, out, 1.0, 0.0, math, False)
        torch.autograd.graph.increment_version(out)
        return out
    result = multiply(a, b, math=math, out_dtype=out.dtype)
    if out.shape != result.shape:
        raise ShapeError(f"rung: matmul: out is {tuple(out.shape)}; it must be {tuple(result.shape)}")
    return out.copy_(result)


def multiply_and_add(input, a, b, *, beta=1, alpha=1, math="ieee"):
    """The kernel of torch.ops.rung.addmm."""
    if a.dim() < 2 or b.dim() < 2:
        _check(a, b)
    rounded = writes_rounded(a, a.dtype)
    if (rounded and beta == 1 and math == "ieee" and input.dim() == 1 and input.dtype == a.dtype
            and input.device == a.device):
        result = call(a, _core._rounded_matmul, b, input, alpha)  # fused
        if result is not None:
            return result
    writable = a.dtype if rounded else _SUMS.get(a.dtype, torch.float32)
    if beta != 0 and a.is_cpu and input.is_cpu and input.dtype == writable == a.dtype:
        return call(a, _core._matmul_of_tensors, b, None, alpha, beta, math, False, input)
    result = torch.empty(_shape(a, b), dtype=writable, device=a.device)
    if beta != 0:
        result.copy_(input)  # broadcast
    call(a, _core._matmul_of_tensors, b, result, alpha, beta, math, False)
    return result if writable == a.dtype else result.to(a.dtype)


def _matmul_fake(a, b, *, math="ieee", out_dtype=None):
    _check(a, b)
    return a.new_empty(_shape(a, b), dtype=out_dtype or _NARROW.get(a.dtype, a.dtype))


def _addmm_fake(input, a, b, *, beta=1, alpha=1, math="ieee"):
    _check(a, b)
    return a.new_empty(_shape(a, b))


def _gradients(ctx, gradient, first):
    """The gradients with respect to a and b, inputs `first` and `first + 1`: in their dtypes, and summed over
    dimensions that were broadcast."""
    from . import matmul

    a, b = ctx.saved_tensors
    of_a = of_b = None
    gradient = gradient.to(a.dtype)
    if ctx.needs_input_grad[first]:
        of_a = matmul(gradient, b.transpose(-1, -2), math=ctx.math).sum_to_size(a.shape)
    if ctx.needs_input_grad[first + 1]:
        if b.dim() == 2:  # one product with all rows of a
            a, gradient = a.flatten(0, -2), gradient.flatten(0, -2)
        of_b = matmul(a.transpose(-1, -2), gradient, math=ctx.math).sum_to_size(b.shape)
    return of_a, of_b


def _matmul_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.save_for_backward(*inputs)
    ctx.math = keyword_only_inputs["math"]


def matmul_backward(ctx, gradient):
    return _gradients(ctx, gradient, 0)


def _addmm_setup(ctx, inputs, keyword_only_inputs, output):
    input, a, b = inputs
    ctx.save_for_backward(a, b)
    ctx.shape = input.shape
    for name, value in keyword_only_inputs.items():
        setattr(ctx, name, value)


def addmm_backward(ctx, gradient):
    of_input = (ctx.beta * gradient).sum_to_size(ctx.shape) if ctx.needs_input_grad[0] else None
    scaled = gradient if ctx.alpha == 1 else ctx.alpha * gradient
    return of_input, *_gradients(ctx, scaled, 1)


def _under_autocast(operator, device):
    """The operator's autocast kernel. Operands are not cast if `math` selects a mode of float32."""

    def kernel(*operands, math="ieee", **options):
        if math == "ieee":
            dtype = torch.get_autocast_dtype(device)
            operands = [each.to(dtype) if each.dtype in (torch.float32, *ROUNDED) else each for each in operands]
        with torch.autocast(device, enabled=False):
            return operator(*operands, math=math, **options)

    return kernel


for _key in ("CPU", "CUDA"):
    for _name, _kernel in (("matmul", multiply), ("addmm", multiply_and_add)):
        _library.impl(_name, _kernel, _key)
        _library.impl(_name, _under_autocast(getattr(torch.ops.rung, _name), _key.lower()), f"Autocast{_key}")
torch.library.register_fake("rung::matmul", _matmul_fake, lib=_library)
torch.library.register_fake("rung::addmm", _addmm_fake, lib=_library)
torch.library.register_autograd("rung::matmul", matmul_backward, setup_context=_matmul_setup, lib=_library)
torch.library.register_autograd("rung::addmm", addmm_backward, setup_context=_addmm_setup, lib=_library)
