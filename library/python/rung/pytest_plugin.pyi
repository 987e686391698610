from typing import Any, Callable, TypeVar

from ._kernel import Kernel as _Kernel
from ._kernel import Run

_Test = TypeVar("_Test", bound=Callable[..., Any])

class Launches:
    Kernel: type[_Kernel]
    runs: list[Run]
    def counters(self) -> dict[str, int]: ...

def budget(**limits: int) -> Callable[[_Test], _Test]: ...
