"""Runs a candidate's launch lines on the virtual GPU."""

import dataclasses
import re

import numpy as np

from .. import _kernel
from .placed import Placed
from .candidate import CandidateError
from .distributions import numpy_dtype
from .expressions import ExpressionError, evaluate

_GUARD = 0xA5
# Most warp instructions of a launch, in which a block may wait for one that does not come: in all, or for each operation.
_LEAST_LIMIT, _LIMIT_OF_WORK = 100_000_000, 100
ORDER_LIMIT = 400_000  # warp instructions of a launch in a random order, where waiting loops may take any number


@dataclasses.dataclass
class Seen:
    """One call as it was observed.

    Attributes
    ----------
    outputs, inputs : dict of str to numpy.ndarray
        After the call.
    hazards : list of str
    counters : dict of str to int
        Sums over the launches.
    broken_guards : list of str
        Arrays before which the candidate wrote.
    error : str or None
        Why the call has no results.
    run : rung.Run or None
        The call's longest launch.
    launches : int
        -1 if the process ended before it could report them.
    host_bytes : int
        Bytes that a host function has copied from the GPU, or could see in memory of the host.
    device_bytes, live_objects : int
        Device memory that is allocated after the call of a host function, and streams, events and graphs that exist.
    changes_state : bool
        The call has changed limits of the device or the rounding mode of its process.
    by_host : str or None
        An output with elements that no kernel of a Python function has written.
    is_undecided : bool
        A launch in a random order was aborted.
    """

    outputs: dict = dataclasses.field(default_factory=dict)
    inputs: dict = dataclasses.field(default_factory=dict)
    hazards: list = dataclasses.field(default_factory=list)
    counters: dict = dataclasses.field(default_factory=dict)
    broken_guards: list = dataclasses.field(default_factory=list)
    error: str = None
    run: object = None
    launches: int = 0
    host_bytes: int = 0
    device_bytes: int = 0
    live_objects: int = 0
    changes_state: bool = False
    by_host: str = None
    is_undecided: bool = False

    def add(self, run):
        """Adds a launch."""
        self.launches += 1
        for name, value in run.counters.items():
            self.counters[name] = self.counters.get(name, 0) + value
        if self.run is None or run.counters["instructions"] > self.run.counters["instructions"]:
            self.run = run
        if not run.ok:
            self.is_undecided |= any(each["kind"] == "instruction limit" for each in run.hazards)
            self.hazards += [each["message"] for each in run.hazards if each["kind"] != "same-value race"]


class KernelRunner:
    """Runs calls one after the other, with kernels that are compiled once."""

    kind = "kernels"

    def __init__(self, candidate, task):
        self.candidate, self.task = candidate, task
        self.kernels, self.gpu = {}, task.gpu
        self._compile()

    def _compile(self):
        source = self.candidate.file or self.candidate.compiled_text
        for step in self.candidate.steps:
            if step.kind == "launch" and step.name not in self.kernels:
                self.kernels[step.name] = self._compiled(source, step.name)

    def _compiled(self, source, name):
        return _kernel.Kernel(source, name, gpu=None if self.candidate.language == "metal" else self.gpu,
                              include=self.candidate.folders, beside=next(iter(self.kernels.values()), None))

    @property
    def device_code(self):
        """The PTX of all kernels; empty for Metal."""
        return "" if self.candidate.language == "metal" else "".join(each.ptx for each in self.kernels.values())

    def close(self):
        pass

    def run(self, calls):
        """Yields (call, Seen), each after its call has run."""
        for call in calls:
            if call.skips or call.reaches:
                continue  # a host function alone counts its calls
            if not call.gpu:
                yield call, self._call(call)
            elif re.search(r"%n?smid", self.candidate.text):  # only these tell a kernel on which GPU it runs
                usual, self.gpu, self.kernels = self.kernels, call.gpu, {}
                self._compile()
                yield call, self._call(call)
                self.gpu, self.kernels = self.task.gpu, usual

    def _call(self, call):
        seen = Seen()
        sizes = call.case.sizes
        arrays = {}
        for array in self.task.arrays:
            shape = self.task.shape_of(array, sizes)
            arrays[array.name] = _placed(shape, array.dtype, call.offsets[array.name], call.case.inputs.get(array.name))
            arrays[array.name].is_read_only = array.role == "in"
        for name, (dtype, elements) in self.candidate.workspaces.items():
            arrays[name] = _placed((max(1, evaluate(elements, sizes)),), dtype, 0, None)
        try:
            for step in self.candidate.steps:
                self._step(step, arrays, call, seen)
        except (ValueError, RuntimeError, TypeError) as error:
            if isinstance(error, (CandidateError, ExpressionError)):
                raise
            seen.error = str(error)
        for array in self.task.arrays:
            placed = arrays[array.name]
            (seen.inputs if array.role == "in" else seen.outputs)[array.name] = np.asarray(placed)
            if not (placed.memory[:placed.offset] == (_GUARD if array.role == "in" else 0xFF)).all():
                seen.broken_guards.append(array.name)
        return seen

    def _step(self, step, arrays, call, seen):
        sizes = call.case.sizes
        limit = ORDER_LIMIT if call.order else max(_LEAST_LIMIT, _LIMIT_OF_WORK * self.task.work(sizes))
        if step.kind == "clear":
            if step.name not in arrays:
                raise CandidateError(f"referee: clear {step.name}: expected one of {', '.join(arrays)}")
            arrays[step.name][...] = 0
            arrays[step.name].is_written = True
            return
        for kernel, values, options in self.launches(step, arrays, sizes):
            for value in values:
                if isinstance(value, Placed) and value.size == 0:
                    value.is_written = True
            seen.add(kernel(*values, on_hazard="report", threads=call.threads, schedule=call.order,
                            limit=limit, **options))
            for value in values:
                if isinstance(value, Placed):
                    value.is_written = True

    def launches(self, step, arrays, sizes):
        """Yields the kernel, the arguments, and grid, block and shared of each launch of a step."""
        for index in range(evaluate(step.get("times", "1"), sizes)):
            names = {**sizes, "step": index}
            options = {key: evaluate(step.get(key), names) for key in ("grid", "groups", "block", "group")
                       if step.get(key) is not None}
            if any(each < 1 for value in options.values() for each in np.atleast_1d(value)):
                return  # no thread
            options["shared"] = evaluate(step.get("shared", "0"), names)
            kernel = self.kernels[step.name]
            yield kernel, self._arguments(kernel, step, arrays, names), options

    def _arguments(self, kernel, step, arrays, names):
        parameters = kernel._signature.parameters
        if step.get("args") is not None:
            values = evaluate(step.get("args"), {**names, **arrays})
            values = values if isinstance(values, tuple) else (values,)
        else:
            values = _by_name(parameters, arrays, names) or self._by_position(parameters, arrays, names)
        if len(values) != len(parameters):
            raise CandidateError(f"referee: launch {step.name}: {len(values)} arguments for {len(parameters)} parameters")
        return values

    def _by_position(self, parameters, arrays, names):
        left = {"buffer": [arrays[each.name] for each in self.task.arrays],
                "value": [names[each] for each in self.task.operation.sizes]}
        values = []
        for parameter in parameters:
            if not left.get(parameter.kind):
                raise CandidateError(
                    f"parameter {parameter.label} ({parameter.type}) of {parameter.kernel} is no name of the task"
                    f" ({', '.join([*arrays, *self.task.operation.sizes])}); write args=(…) in its launch line")
            values.append(left[parameter.kind].pop(0))
        return tuple(values)


def _by_name(parameters, arrays, names):
    known = {each.lower(): value for each, value in {**names, **arrays}.items()}
    values = []
    for parameter in parameters:
        label = parameter.label.lower()
        value = known.get(label, known.get(label.rstrip("_")))
        # A pointer to const takes a number, too, as Metal's references do.
        if value is None or (parameter.kind == "value") == hasattr(value, "shape") and not (
                parameter.kind == "buffer" and parameter.is_const):
            return None
        values.append(value)
    return tuple(values)


def _placed(shape, dtype, offset, value):
    placed = Placed(shape, numpy_dtype(dtype), offset)
    if value is None:
        placed.memory[:] = 0xFF
    else:
        placed.memory[:offset] = _GUARD
        placed[...] = value
        placed.is_written = True
    return placed
