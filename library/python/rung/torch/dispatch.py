"""Selects the path of a call to the kernel. PyTorch's dispatcher needs tens of microseconds to call an
operator written in Python, and most calls can bypass it."""

import functools
import operator

import torch
from torch.autograd import forward_ad

KERNEL = "kernel"  # direct call: ordinary tensors without autograd
FUNCTION = "function"  # autograd function
TRANSFORM = "transform"  # transforms of torch.func: vmap, grad, jvp, ...
OPERATOR = "operator"  # PyTorch's dispatcher: torch.compile, autocast, fake tensors, subclasses, tracing, lazy negation

_TYPES = (torch.Tensor, torch.nn.Parameter)
# The dispatch keys of ordinary tensors. Tensors have the autocast keys even if autocast is disabled.
_ORDINARY = ("CPU", "CUDA", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA", "ADInplaceOrView",
             "BackendSelect", "Fake")  # Fake: added by use()

try:
    _keys_of, _keys_of_modes = torch._C._dispatch_keys, torch._C._dispatch_tls_local_include_set
    _has_transforms, _has_autocast = torch._C._are_functorch_transforms_active, torch._C._is_any_autocast_enabled
    _OTHERS = ~functools.reduce(operator.or_, (
        torch._C.DispatchKeySet(torch._C._parse_dispatch_key(name)).raw_repr() for name in _ORDINARY))
except AttributeError:  # a PyTorch version without these internals: all calls use the dispatcher

    def way(*tensors):
        return OPERATOR

else:

    def way(*tensors):
        """KERNEL, FUNCTION, TRANSFORM or OPERATOR, for a call with these tensors."""
        if torch.compiler.is_compiling():
            return OPERATOR
        keys = _keys_of_modes().raw_repr()
        for tensor in tensors:
            if type(tensor) not in _TYPES:
                return OPERATOR
            keys |= _keys_of(tensor).raw_repr()
        if keys & _OTHERS:
            return TRANSFORM if _has_transforms() else OPERATOR
        if _has_autocast():
            return OPERATOR
        if not torch.is_grad_enabled():
            return KERNEL
        for tensor in tensors:
            if tensor.requires_grad:
                return FUNCTION
        return KERNEL if forward_ad._current_level < 0 else FUNCTION
