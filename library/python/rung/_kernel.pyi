import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, Literal, Optional, Union

from ._kernel_run import Hazard as Hazard
from ._kernel_run import Run as Run

_Extents = Union[int, tuple[int, ...]]

class CompileError(RuntimeError):
    line: Optional[int]

class Kernel:
    name: str
    code: str
    device: str
    is_metal: bool
    def __init__(
        self,
        source: Union[str, os.PathLike[str]],
        name: Optional[str] = "",
        *,
        gpu: Optional[str] = None,
        constants: Optional[Mapping[str, Any]] = None,
        include: Iterable[Union[str, os.PathLike[str]]] = (),
        std: Optional[str] = None,
        options: Iterable[str] = (),
        device: str = "virtual",
        beside: Optional["Kernel"] = None,
    ) -> None: ...
    @property
    def ptx(self) -> str: ...
    @property
    def signature(self) -> list[str]: ...
    def __getitem__(self, configuration: Union[tuple[_Extents, _Extents], tuple[_Extents, _Extents, int]]) -> Callable[..., Run]: ...
    def __call__(
        self,
        *arguments: Any,
        grid: Optional[_Extents] = None,
        block: Optional[_Extents] = None,
        group: Optional[_Extents] = None,
        groups: Optional[_Extents] = None,
        shared: int = 0,
        on_hazard: Literal["raise", "report"] = "raise",
        poison: Union[bool, str, Sequence[str]] = False,
        threads: int = 0,
        schedule: Optional[int] = None,
        limit: int = 0,
        **named: Any,
    ) -> Run: ...
