"""use(): PyTorch's own functions, routed to Rung.

The kernels of this file are registered for a dispatch key that nothing else uses, between autograd and the backends.
`use` adds the key to those of the thread; the autograd engine passes these on to its own threads. Autograd, autocast,
vmap and torch.compile see PyTorch's functions, and all other functions take the time that they took before.
"""

import threading

import torch

from .. import _core
from .operators import ROUNDED, is_hopper, multiply, multiply_and_add

_C = torch._C
_ROUTED = frozenset((torch.float32, torch.float64, *ROUNDED))
_NAME = "Fake"  # reserved for torchdistx, a package outside PyTorch without releases since 2022
_KEY = _C._parse_dispatch_key(_NAME)
_BELOW = _C._dispatch_keyset_full_after(_KEY).remove(_C.DispatchKey.BackendSelect)
_MASK = _BELOW.raw_repr()


def _kind(backend):
    """What the keys below are for ordinary memory of a backend: no modes, subclasses or other layouts."""
    return (_C.DispatchKeySet(backend) & _BELOW).raw_repr()


_CPU, _CUDA = _kind(_C.DispatchKey.CPU), _kind(_C.DispatchKey.CUDA)


def _math(a):
    tf32 = a.is_cuda and a.dtype == torch.float32 and torch.backends.cuda.matmul.allow_tf32
    return "tf32" if tf32 and is_hopper(a.device.index) else "ieee"


def _go_together(a, b, dims):
    """If not, PyTorch has its own words for it."""
    return (a.dtype == b.dtype and a.device == b.device and a.dim() == dims == b.dim()
            and a.shape[-1] == b.shape[-2] and (dims == 2 or a.shape[0] == b.shape[0]))


def _product(name, dims):
    original = getattr(torch.ops.aten, name).default

    def kernel(keys, a, b):
        kind = keys.raw_repr() & _MASK
        if a.dtype in _ROUTED:
            if kind == _CPU:
                result = _core._product_on_cpu(a, b, dims)
                if result is not None:
                    return result
            if (kind == _CPU or kind == _CUDA) and _go_together(a, b, dims):
                return multiply(a, b, math=_math(a))
        return original.redispatch(keys & _BELOW, a, b)

    return kernel


def _addmm(keys, input, a, b, *, beta=1, alpha=1):
    kind = keys.raw_repr() & _MASK
    if a.dtype in _ROUTED:
        if kind == _CPU:
            result = _core._product_on_cpu(a, b, 2, input, beta, alpha)
            if result is not None:
                return result
        if (kind == _CPU or kind == _CUDA) and input.dtype == a.dtype and _go_together(a, b, 2):
            return multiply_and_add(input, a, b, beta=beta, alpha=alpha, math=_math(a))
    return torch.ops.aten.addmm.default.redispatch(keys & _BELOW, input, a, b, beta=beta, alpha=alpha)


_once = threading.Lock()
_libraries = []  # the kernels stay registered as long as these objects live


def _register():
    """At the first use(). Functions without a kernel for the key skip it."""
    with _once:
        if _libraries:
            return
        others, products = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
        others.fallback(torch.library.fallthrough_kernel, _NAME)
        for name, kernel in (("mm", _product("mm", 2)), ("bmm", _product("bmm", 3)), ("addmm", _addmm)):
            products.impl(name, kernel, _NAME, with_keyset=True)
        _libraries.extend((others, products))


class use:
    """A context in which PyTorch's products call Rung: mm, bmm and addmm, and what is made of these, such as matmul, @,
    einsum and nn.Linear, forward and, if it runs in the context too, backward.

    For float32, float64, bfloat16 and float16 on the CPU and CUDA; all else goes to PyTorch as before:
    vectors, sparse and quantized tensors, calls with out=, and calls that a TorchDispatchMode sees. float32 on CUDA obeys
    torch.backends.cuda.matmul.allow_tf32. The context is that of its thread.
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
