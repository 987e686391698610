from typing import NamedTuple, Optional

class Device(NamedTuple):
    kind: str
    index: int  # type: ignore[assignment]
    name: str
    processors: int
    memory: Optional[int] = None
    capability: Optional[tuple[int, int]] = None

def devices() -> list[Device]: ...
