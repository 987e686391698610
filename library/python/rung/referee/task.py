"""A task: the operation, shapes, inputs and limits that a candidate is judged by."""

import dataclasses
import importlib.util
import os

import numpy as np

from . import distributions
from .expressions import ExpressionError, evaluate
from .operations import BY_NAME, Array, Operation
from .references import numerics


class TaskError(ValueError):
    """A task that cannot be judged: one line says which entry, and what is allowed."""


@dataclasses.dataclass
class Task:
    """A task. All fields but the operation have a default.

    Attributes
    ----------
    operation : Operation
    dtype : str
        Of the arrays of type "T".
    function : str
        The host function that a candidate may define instead of launch lines.
    public : list of dict
        Shapes that the candidate's author knows.
    hidden : int
        The number of shapes that are drawn.
    limits, multiples, choices : dict
        Of hidden extents: the largest, a divisor, the only ones.
    zeros : bool
        Hidden shapes may have an extent of 0.
    alignment : int
        Bytes; each pointer is a multiple of it, and hidden cases are aligned to no more.
    distributions : tuple of str
    nonfinite : bool
        NaN and infinities must give what the reference gives. Otherwise they are not drawn.
    tf32 : bool
        Factors may be rounded to TF32.
    libraries : bool
        A candidate may call vendor libraries.
    forbid : tuple of str
        More names that a candidate must not use.
    gpu : str
        The virtual GPU.
    launch : tuple of str
        Launch lines for candidates that have none, as "launch gemm grid=cdiv(n, 16) block=16".
    claims : list of dict
        Times that the author states: a shape, "seconds", and optionally "gpu".
    timed : list of dict
        Shapes to time on a GPU, where there is one; empty: the largest public shape.
    baseline : str or None
        The path of a candidate with launch lines that is timed beside this one.
    rtol, atol : float or None
        Instead of the error model: |error| <= atol + rtol |reference|.
    """

    operation: Operation
    dtype: str = "float32"
    function: str = "solve"
    public: list = dataclasses.field(default_factory=list)
    hidden: int = 30
    limits: dict = dataclasses.field(default_factory=dict)
    multiples: dict = dataclasses.field(default_factory=dict)
    choices: dict = dataclasses.field(default_factory=dict)
    zeros: bool = False
    alignment: int = 16
    distributions: tuple = ()
    nonfinite: bool = False
    tf32: bool = False
    libraries: bool = False
    forbid: tuple = ()
    gpu: str = "h200"
    launch: tuple = ()
    claims: list = dataclasses.field(default_factory=list)
    timed: list = dataclasses.field(default_factory=list)
    baseline: str = None
    rtol: float = None
    atol: float = None

    def __post_init__(self):
        if isinstance(self.operation, str):
            if self.operation not in BY_NAME:
                raise TaskError(f"operation: '{self.operation}' is unknown; expected one of {', '.join(BY_NAME)},"
                                " or a reference of your own")
            self.operation = BY_NAME[self.operation]
        self.distributions = tuple(self.distributions) or self.operation.distributions
        if self.nonfinite and "nonfinite" not in self.distributions:
            self.distributions += ("nonfinite",)
        for name in self.distributions:
            if name not in distributions.BY_NAME:
                raise TaskError(f"distributions: '{name}' is unknown; expected {', '.join(distributions.BY_NAME)}")
        for kind in ("limits", "multiples", "choices"):
            self._check_sizes(kind, getattr(self, kind))
        for shape in [*self.public, *self.timed, *self.claims]:
            self._check_sizes("public", {name: shape[name] for name in shape if name not in ("seconds", "gpu")})
        if self.alignment not in (1, 2, 4, 8, 16, 32, 64, 128, 256):
            raise TaskError(f"alignment: {self.alignment} is not a power of two up to 256")

    def _check_sizes(self, kind, values):
        for name in values:
            if name not in self.operation.sizes:
                raise TaskError(f"{kind}: '{name}' is no size; {self.operation.name} has"
                                f" {', '.join(self.operation.sizes)}")

    @property
    def arrays(self):
        """The arrays with the task's dtype."""
        return [dataclasses.replace(each, dtype=self.dtype) if each.dtype == "T" else each
                for each in self.operation.arrays]

    def shape_of(self, array, sizes):
        if callable(array.shape):
            return array.shape(sizes)
        return tuple(evaluate(each, sizes) for each in array.shape)

    def work(self, sizes):
        return evaluate(self.operation.work, sizes)

    def expected(self, inputs, sizes, distribution):
        """{output: (value, bound)} of a case."""
        out = next(each for each in self.arrays if each.role == "out")
        is_exact = self.operation.is_linear and distribution in distributions.EXACT
        with np.errstate(all="ignore"):
            results = self.operation.reference({name: each.astype(np.float64) for name, each in inputs.items()},
                                               sizes, numerics(self.dtype, out.dtype, is_exact, self.tf32))
        if self.rtol is not None or self.atol is not None:
            results = {name: (value, (self.atol or 0) + (self.rtol or 0) * np.abs(value))
                       for name, (value, _) in results.items()}
        return {name: _overflowed(value, bound, out.dtype) for name, (value, bound) in results.items()}


def _overflowed(value, bound, dtype):
    """Infinity where the output's type cannot hold a value; anything where the rounding decides."""
    most = {"float16": 65504.0, "float32": 3.4028235e38, "bfloat16": 3.3895314e38}.get(dtype)
    size = np.abs(value)
    if most is None or not (size > 0.999 * most).any():
        return value, bound
    bound = np.where((size > 0.999 * most) & (size < 1.001 * most), np.inf, bound)
    return np.where((size >= 1.001 * most) & np.isfinite(value), np.copysign(np.inf, value), value), bound


_KEYS = {each.name for each in dataclasses.fields(Task)} - {"operation"}


def read(path):
    """The task of a TOML file."""
    try:
        import tomllib
    except ImportError:
        raise TaskError("a task file needs Python 3.11 or later (tomllib); make the Task in Python") from None
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise TaskError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise TaskError(f"{path}: {error}") from None
    try:
        return from_table(table, os.path.dirname(os.path.abspath(path)))
    except (TaskError, ExpressionError) as error:
        raise TaskError(f"{path}: {error}") from None


def from_table(table, folder="."):
    """The task of a dict as a TOML file has it: `operation`, or `reference` with `sizes` and `array`."""
    table = dict(table)
    if "reference" in table:
        operation = _own_operation(table, folder)
    elif "operation" in table:
        operation = table.pop("operation")
    else:
        raise TaskError("expected operation = \"NAME\", or reference = \"FILE.py:FUNCTION\"")
    for name in table:
        if name not in _KEYS:
            raise TaskError(f"'{name}' is no entry; expected operation, reference, {', '.join(sorted(_KEYS))}")
    if "baseline" in table:
        table["baseline"] = os.path.join(folder, table["baseline"])
    return Task(operation, **table)


def _own_operation(table, folder):
    file, _, function = table.pop("reference").rpartition(":")
    spec = importlib.util.spec_from_file_location("rung_referee_reference", os.path.join(folder, file))
    if not file or spec is None or not os.path.exists(spec.origin):
        raise TaskError(f"reference: '{file}:{function}' is not FILE.py:FUNCTION of a file in {folder}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, function):
        raise TaskError(f"reference: {file} has no function '{function}'")
    arrays = tuple(Array(each["name"], each.get("role", "in"), tuple(map(str, each["shape"])), each.get("dtype", "T"),
                         each.get("below")) for each in table.pop("array", []))
    if not any(each.role == "out" for each in arrays) or "sizes" not in table:
        raise TaskError("a reference of your own needs sizes = {…} and [[array]] entries, one with role = \"out\"")
    return own_operation(getattr(module, function), arrays, table.pop("sizes"), table.pop("work", "1"))


def own_operation(function, arrays, sizes, work="1"):
    """An Operation of a function of float64 arrays by name and the sizes by name.

    It returns the output, or a dict of outputs; each is an array, or a pair of an array and a bound. Without a bound,
    the error model is a float64 shadow run: inputs are perturbed by their unit roundoff in eight runs, and 32 times the
    largest change is granted, with 32 roundings of the output.
    """
    outputs = [each.name for each in arrays if each.role == "out"]

    def call(x, sizes):
        results = function(**x, **sizes)
        return results if isinstance(results, dict) else {outputs[0]: results}

    def reference(x, sizes, n):
        results = call(x, sizes)
        if all(isinstance(each, tuple) for each in results.values()):
            return results
        results = {name: np.asarray(each, np.float64) for name, each in results.items()}
        change = {name: np.zeros(each.shape) for name, each in results.items()}
        rng = np.random.default_rng(1)
        for _ in range(8):
            moved = {name: each * (1 + n.u * rng.choice([-1.0, 1.0], each.shape)) for name, each in x.items()}
            for name, each in call(moved, sizes).items():
                change[name] = np.maximum(change[name], np.abs(np.asarray(each) - results[name]))
        return {name: (each, n.rounded(each, 32 * (change[name] + n.u * np.abs(each)), 32))
                for name, each in results.items()}

    return Operation(getattr(function, "__name__", "reference"), tuple(arrays), dict(sizes), reference, work,
                     ("normal", "uniform", "constant", "sparse", "integers"))
