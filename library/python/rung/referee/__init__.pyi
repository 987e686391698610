import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

class TaskError(ValueError): ...
class CandidateError(ValueError): ...

@dataclass(frozen=True)
class Finding:
    rule: str
    severity: str
    message: str
    case: str = ""

@dataclass(frozen=True)
class Array:
    name: str
    role: str
    shape: tuple[str, ...]
    dtype: str = "T"
    below: Optional[str] = None

@dataclass(frozen=True)
class Operation:
    name: str
    arrays: tuple[Array, ...]
    sizes: dict[str, int]
    reference: Callable[..., Any]
    work: str
    distributions: tuple[str, ...]
    is_linear: bool = False

@dataclass
class Task:
    operation: Union[Operation, str]
    dtype: str = "float32"
    function: str = "solve"
    public: Sequence[Mapping[str, int]] = ...
    hidden: int = 30
    limits: Mapping[str, int] = ...
    multiples: Mapping[str, int] = ...
    choices: Mapping[str, Sequence[int]] = ...
    zeros: bool = False
    alignment: int = 16
    distributions: Sequence[str] = ()
    nonfinite: bool = False
    tf32: bool = False
    libraries: bool = False
    forbid: Sequence[str] = ()
    gpu: str = "h200"
    launch: Sequence[str] = ()
    claims: Sequence[Mapping[str, Any]] = ...
    timed: Sequence[Mapping[str, int]] = ...
    baseline: Optional[str] = None
    rtol: Optional[float] = None
    atol: Optional[float] = None

@dataclass
class Verdict:
    verdict: str
    findings: list[Finding]
    facts: dict[str, Any]
    @property
    def exit_code(self) -> int: ...
    def rules(self) -> list[str]: ...
    def as_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_markdown(self) -> str: ...

def judge(
    candidate: Union[str, os.PathLike[str], Callable[..., Any]],
    task: Union[Task, Mapping[str, Any], str, os.PathLike[str]],
    *,
    seed: int = 1,
    quick: bool = False, timing: bool = True,
) -> Verdict: ...
def own_operation(
    function: Callable[..., Any], arrays: Sequence[Array], sizes: Mapping[str, int], work: str = "1"
) -> Operation: ...
def read_task(path: Union[str, os.PathLike[str]]) -> Task: ...
