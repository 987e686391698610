"""use(): routes PyTorch's matrix products to Rung.

The kernels in this file are registered for an otherwise unused dispatch key, with a priority between autograd and the
backends. `use` includes the key in the thread's dispatch keys, which the autograd engine propagates to its threads.
Autograd, autocast, vmap and torch.compile see PyTorch's functions, and other functions have no overhead.
"""

import contextlib
import threading

import torch

from .. import _core
from .operators import ROUNDED, call, is_hopper, multiply, multiply_and_add, writes_rounded

_C = torch._C
_ROUTED = frozenset((torch.float32, torch.float64, *ROUNDED))
_NAME = "Fake"  # reserved by PyTorch for an external package, torchdistx

try:
    _KEY = _C._parse_dispatch_key(_NAME)
    _BELOW = _C._dispatch_keyset_full_after(_KEY).remove(_C.DispatchKey.BackendSelect)
    _MASK = _BELOW.raw_repr()
    # The keys below ours of a backend's ordinary tensors: no modes, subclasses or other layouts.
    _CPU, _CUDA = ((_C.DispatchKeySet(backend) & _BELOW).raw_repr() for backend in (_C.DispatchKey.CPU, _C.DispatchKey.CUDA))
except AttributeError:  # a PyTorch version without these internals
    _KEY = None


def _math(a):
    tf32 = a.is_cuda and a.dtype == torch.float32 and torch.backends.cuda.matmul.allow_tf32
    return "tf32" if tf32 and is_hopper(a.device.index) else "ieee"


def _go_together(a, b, dims):
    """True if dtypes, devices and shapes match. If not, PyTorch's kernel raises the error."""
    return (a.dtype == b.dtype and a.device == b.device and a.dim() == dims == b.dim()
            and a.shape[-1] == b.shape[-2] and (dims == 2 or a.shape[0] == b.shape[0]))


def _takes(keys, a, b, dims):
    kind = keys.raw_repr() & _MASK
    return (kind == _CPU or kind == _CUDA) and a.dtype in _ROUTED and _go_together(a, b, dims)


def _writes(out, a, b):
    """True if the library can write the product to `out` directly."""
    return (out.dtype == a.dtype and out.shape == (*a.shape[:-1], b.shape[-1]) and out.is_contiguous()
            and (a.dtype not in ROUNDED or writes_rounded(a, a.dtype)))


def _share(out, *operands):
    """True if `out` shares storage with an operand."""
    memory = out.untyped_storage().data_ptr()
    return any(each.untyped_storage().data_ptr() == memory for each in operands)


def _product(packet, dims):
    """The kernels of mm or bmm: one that returns a new tensor, and one for out=, which torch.compile's default backend
    calls."""

    def kernel(keys, a, b):
        if keys.raw_repr() & _MASK == _CPU and a.dtype in _ROUTED:
            result = _core._product_on_cpu(a, b, dims)
            if result is not None:
                return result
        if _takes(keys, a, b, dims):
            return multiply(a, b, math=_math(a))
        return packet.default.redispatch(keys & _BELOW, a, b)

    def into(keys, a, b, *, out):
        if _takes(keys, a, b, dims) and _writes(out, a, b):
            if a.is_cuda and _share(out, a, b):  # on the CPU, the extension copies overlapping operands
                return out.copy_(kernel(keys, a, b))
            return call(a, _core._matmul_of_tensors, b, out, 1.0, 0.0, _math(a), False)
        return packet.out.redispatch(keys & _BELOW, a, b, out=out)

    return kernel, into


def _addmm(keys, input, a, b, *, beta=1, alpha=1):
    if keys.raw_repr() & _MASK == _CPU and a.dtype in _ROUTED:
        result = _core._product_on_cpu(a, b, 2, input, beta, alpha)
        if result is not None:
            return result
    if _takes(keys, a, b, 2) and input.dtype == a.dtype:
        return multiply_and_add(input, a, b, beta=beta, alpha=alpha, math=_math(a))
    return torch.ops.aten.addmm.default.redispatch(keys & _BELOW, input, a, b, beta=beta, alpha=alpha)


def _addmm_into(keys, input, a, b, *, beta=1, alpha=1, out):
    if _takes(keys, a, b, 2) and _writes(out, a, b) and input.dtype == a.dtype and input.shape == b.shape[1:]:
        if _share(out, input, a, b):
            return out.copy_(_addmm(keys, input, a, b, beta=beta, alpha=alpha))
        if a.dtype in ROUNDED and beta == 1:
            result = call(a, _core._rounded_matmul, b, input, alpha, out)
            if result is not None:
                return result
        if beta != 0:
            out.copy_(input)  # broadcast
        return call(a, _core._matmul_of_tensors, b, out, alpha, beta, _math(a), False)
    return torch.ops.aten.addmm.out.redispatch(keys & _BELOW, input, a, b, beta=beta, alpha=alpha, out=out)


_once = threading.Lock()
_libraries = []  # kernels stay registered for the lifetime of these objects


def _register():
    """Registers the kernels at the first use(). Functions without a kernel for the key fall through."""
    if _KEY is None:
        raise RuntimeError(f"rung: rung.torch.use() does not know the dispatcher of PyTorch {torch.__version__}; "
                           "rung.torch.matmul and addmm do not need it")
    with _once:
        if _libraries:
            return
        others, products = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
        others.fallback(torch.library.fallthrough_kernel, _NAME)
        kernels = {"mm": _product(torch.ops.aten.mm, 2), "bmm": _product(torch.ops.aten.bmm, 3),
                   "addmm": (_addmm, _addmm_into)}
        for name, (kernel, into) in kernels.items():
            products.impl(name, kernel, _NAME, with_keyset=True)
            products.impl(f"{name}.out", into, _NAME, with_keyset=True)
        _libraries.extend((others, products))


class use(contextlib.ContextDecorator):
    """A context manager, and a decorator of functions, that routes PyTorch's matrix products to Rung: mm, bmm and addmm, and functions implemented
    with these, such as matmul, @, einsum and nn.Linear. The backward pass is routed if it also runs in the context.

    Applies to float32, float64, bfloat16 and float16 tensors on the CPU and CUDA. All other calls use PyTorch's
    kernels: vectors, sparse and quantized tensors, out= with other shapes or strides, and, in PyTorch 2.11, calls seen
    by a TorchDispatchMode. float32 on CUDA respects torch.backends.cuda.matmul.allow_tf32. Applies only to the current
    thread.

    Raises
    ------
    RuntimeError
        On entry, if this version of PyTorch is not supported.
    """

    def __init__(self):
        self._guards = []

    def _recreate_cm(self):
        return use()  # calls of a decorated function may be of several threads

    def __enter__(self):
        _register()
        guard = _C._IncludeDispatchKeyGuard(_KEY)
        guard.__enter__()
        self._guards.append(guard)
        return self

    def __exit__(self, *error):
        self._guards.pop().__exit__(*error)
