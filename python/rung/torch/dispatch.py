"""Which way a call takes to the kernel. PyTorch's dispatcher takes tens of microseconds to an operator that
is written in Python, and most calls need nothing of it."""

import functools
import operator

import torch
from torch.autograd import forward_ad

KERNEL = "kernel"  # at once: memory of a device, and no autograd
FUNCTION = "function"  # autograd
TRANSFORM = "transform"  # vmap, grad, jvp and the like of torch.func
OPERATOR = "operator"  # by the dispatcher: torch.compile, fake tensors, subclasses, traces, lazy negations

_TYPES = (torch.Tensor, torch.nn.Parameter)
# Keys of the dispatcher that mean memory of a device, and no more. The operators have no rule of their own for
# autocast.
_ORDINARY = ("CPU", "CUDA", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA", "ADInplaceOrView",
             "BackendSelect", "Fake")  # the last one: use()

try:
    _keys_of, _keys_of_modes = torch._C._dispatch_keys, torch._C._dispatch_tls_local_include_set
    _has_transforms = torch._C._are_functorch_transforms_active
    _OTHERS = ~functools.reduce(operator.or_, (
        torch._C.DispatchKeySet(torch._C._parse_dispatch_key(name)).raw_repr() for name in _ORDINARY))
except AttributeError:  # a PyTorch with other names: everything takes the dispatcher's way

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
        if not torch.is_grad_enabled():
            return KERNEL
        for tensor in tensors:
            if tensor.requires_grad:
                return FUNCTION
        return KERNEL if forward_ad._current_level < 0 else FUNCTION
