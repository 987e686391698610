from collections.abc import Sequence
from typing import Any, Callable

from . import _kernel

__all__ = ["Kernel", "compile_shader", "metal_kernel"]

class Kernel(_kernel.Kernel): ...

class compile_shader:
    def __init__(self, source: str) -> None: ...
    def __getattr__(self, name: str) -> Callable[..., _kernel.Run]: ...

def metal_kernel(
    name: str,
    input_names: Sequence[str],
    output_names: Sequence[str],
    source: str,
    header: str = "",
    ensure_row_contiguous: bool = True,
    atomic_outputs: bool = False,
) -> Callable[..., list[Any]]: ...
