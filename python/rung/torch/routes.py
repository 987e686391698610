"""use(): PyTorch's own functions, routed to Rung.

The kernels of this file are registered for a dispatch key that nothing else uses, between autograd and the backends.
`use` adds the key to those of the thread; the autograd engine passes these on to its own threads. Autograd, autocast,
vmap and torch.compile see PyTorch's functions, and all other functions take the time that they took before.
"""

import threading

import torch

from .. import _core
from .operators import ROUNDED, call, is_hopper, multiply, multiply_and_add, writes_rounded

_C = torch._C
_ROUTED = frozenset((torch.float32, torch.float64, *ROUNDED))
_NAME = "Fake"  # which PyTorch reserves for a package outside, torchdistx

try:
    _KEY = _C._parse_dispatch_key(_NAME)
    _BELOW = _C._dispatch_keyset_full_after(_KEY).remove(_C.DispatchKey.BackendSelect)
    _MASK = _BELOW.raw_repr()
    # The keys below for ordinary memory of a backend: no modes, subclasses or other layouts.
    _CPU, _CUDA = ((_C.DispatchKeySet(backend) & _BELOW).raw_repr() for backend in (_C.DispatchKey.CPU, _C.DispatchKey.CUDA))
except AttributeError:  # a PyTorch with other names
    _KEY = None


def _math(a):
    tf32 = a.is_cuda and a.dtype == torch.float32 and torch.backends.cuda.matmul.allow_tf32
    return "tf32" if tf32 and is_hopper(a.device.index) else "ieee"


def _go_together(a, b, dims):
    """If not, PyTorch has its own words for it."""
    return (a.dtype == b.dtype and a.device == b.device and a.dim() == dims == b.dim()
            and a.shape[-1] == b.shape[-2] and (dims == 2 or a.shape[0] == b.shape[0]))


def _takes(keys, a, b, dims):
    kind = keys.raw_repr() & _MASK
    return (kind == _CPU or kind == _CUDA) and a.dtype in _ROUTED and _go_together(a, b, dims)


def _writes(out, a, b):
    """Whether the library writes the product at once."""
    return (out.dtype == a.dtype and out.shape == (*a.shape[:-1], b.shape[-1]) and out.is_contiguous()
            and (a.dtype not in ROUNDED or writes_rounded(a, a.dtype)))


def _product(packet, dims):
    """The kernels of mm and bmm: of a new tensor, and with out=, which torch.compile's default backend calls."""

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
        if a.dtype in ROUNDED and beta == 1:
            result = call(a, _core._rounded_matmul, b, input, alpha, out)
            if result is not None:
                return result
        if beta != 0:
            out.copy_(input)  # broadcast
        return call(a, _core._matmul_of_tensors, b, out, alpha, beta, _math(a), False)
    return torch.ops.aten.addmm.out.redispatch(keys & _BELOW, input, a, b, beta=beta, alpha=alpha, out=out)


_once = threading.Lock()
_libraries = []  # the kernels stay registered as long as these objects live


def _register():
    """At the first use(). Functions without a kernel for the key skip it."""
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


class use:
    """A context in which PyTorch's products call Rung: mm, bmm and addmm, and what is made of these, such as matmul, @,
    einsum and nn.Linear, forward and, if it runs in the context too, backward.

    For float32, float64, bfloat16 and float16 on the CPU and CUDA; all else goes to PyTorch as before:
    vectors, sparse and quantized tensors, out= of other shapes or strides, and, in PyTorch 2.11, calls that a
    TorchDispatchMode sees. float32 on CUDA obeys torch.backends.cuda.matmul.allow_tf32. The context is that of its thread.
    """

    def __init__(self):
        self._guards = []

    def __enter__(self):
        _register()
        guard = _C._IncludeDispatchKeyGuard(_KEY)
        guard.__enter__()
        self._guards.append(guard)
        return self

    def __exit__(self, *error):
        self._guards.pop().__exit__(*error)
