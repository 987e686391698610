from types import TracebackType
from typing import Any, Callable, Literal, Optional, TypeVar

import torch

__all__ = ["addmm", "matmul", "use"]

_Math = Literal["ieee", "split", "reproducible", "batch_invariant", "tf32"]

def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    math: _Math = "ieee",
    out_dtype: Optional[torch.dtype] = None,
    out: Optional[torch.Tensor] = None,
) -> torch.Tensor: ...
def addmm(input: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: float = 1, alpha: float = 1, math: _Math = "ieee") -> torch.Tensor: ...

_Function = TypeVar("_Function", bound=Callable[..., Any])

class use:
    def __call__(self, function: _Function) -> _Function: ...
    def __enter__(self) -> use: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
    ) -> None: ...
