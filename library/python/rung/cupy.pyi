from collections.abc import Sequence
from typing import Any, Optional

from ._kernel import Kernel, Run

__all__ = ["RawKernel", "RawModule"]

class RawKernel:
    name: str
    kernel: Kernel
    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None: ...
    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0) -> Run: ...

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
