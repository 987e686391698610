from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy

from .._kernel import Kernel, Run
from . import cuda as cuda

__all__: list[str]

class ndarray(numpy.ndarray[Any, Any]):
    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> numpy.ndarray[Any, Any]: ...
    def set(self, array: Any, stream: Any = None) -> None: ...

class RawKernel:
    name: str
    code: str
    options: tuple[str, ...]
    @property
    def kernel(self) -> Kernel: ...
    def __init__(
        self,
        code: str | bytes,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None: ...
    def compile(self, log_stream: Any = None) -> None: ...
    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0, stream: Any = None
    ) -> Run: ...

class RawModule:
    def __init__(
        self,
        *,
        code: Optional[str] = None,
        path: Optional[str] = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Optional[Sequence[str]] = None,
        jitify: bool = False,
    ) -> None: ...
    def get_function(self, name: str) -> RawKernel: ...

class ElementwiseKernel:
    name: str
    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        options: Sequence[str] = (),
        loop_prep: str = "",
        after_loop: str = "",
        **named: Any,
    ) -> None: ...
    def __call__(self, *args: Any, size: Optional[int] = None, block_size: int = -1, stream: Any = None) -> Any: ...

class ReductionKernel:
    name: str
    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: Optional[str] = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None: ...
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        stream: Any = None,
    ) -> Any: ...

def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> numpy.ndarray[Any, Any]: ...
def get_array_module(*arrays: Any) -> Any: ...
def fuse(*args: Any, **named: Any) -> Any: ...
def memoize(for_each_device: bool = False) -> Callable[[Any], Any]: ...
def __getattr__(name: str) -> Any: ...
