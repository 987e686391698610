from typing import Any, Literal, Optional

class UnavailableError(RuntimeError): ...
class DeviceError(RuntimeError): ...

__version__: str

def matmul(
    a: Any,
    b: Any,
    *,
    out: Optional[Any] = None,
    alpha: float = 1,
    beta: float = 0,
    math: Literal["ieee", "split", "reproducible", "batch_invariant", "tf32"] = "ieee",
    threads: int = 0,
    stream: Optional[Any] = None,
    epilogue: Optional[Any] = None,
) -> Any: ...
def grouped_matmul(
    a: Any,
    b: Any,
    offsets: Any,
    *,
    out: Optional[Any] = None,
    alpha: float = 1,
    beta: float = 0,
    math: Literal["ieee", "split", "reproducible", "batch_invariant", "tf32"] = "ieee",
    threads: int = 0,
    stream: Optional[Any] = None,
) -> Any: ...
def block_scaled_matmul(
    a: Any,
    a_scales: Any,
    b: Any,
    b_scales: Any,
    *,
    offsets: Optional[Any] = None,
    out: Optional[Any] = None,
    alpha: float = 1,
    beta: float = 0,
    math: Literal["ieee", "batch_invariant"] = "ieee",
    threads: int = 0,
    stream: Optional[Any] = None,
) -> Any: ...
def set_num_threads(threads: int) -> None: ...
def get_num_threads() -> int: ...
class PackedWeights:
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def bits(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def memory(self) -> Any: ...

def pack_weights(
    elements: Any,
    scales: Any,
    zeros: Optional[Any] = None,
    *,
    bits: Literal[4, 8] = 4,
    threads: int = 0,
    stream: Optional[Any] = None,
) -> PackedWeights: ...
def weight_only_matmul(
    a: Any,
    weights: PackedWeights,
    *,
    out: Optional[Any] = None,
    alpha: float = 1,
    beta: float = 0,
    threads: int = 0,
    stream: Optional[Any] = None,
) -> Any: ...
def dot(
    x: Any,
    y: Any,
    *,
    mode: Literal["fast", "deterministic", "compensated", "reproducible"] = "deterministic",
    out: Optional[Any] = None,
    threads: int = 0,
    stream: Optional[Any] = None,
) -> Any: ...
