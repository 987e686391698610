"""Runs a Python function of arrays in a process of its own: what it changes there does not reach the judge."""

import json
import multiprocessing
import warnings

import numpy as np

from .. import _kernel, _kernel_server
from .distributions import numpy_dtype
from .run_kernels import Seen

_SECONDS = 300  # of a call that does not return


class FunctionRunner:
    """Calls a function of the arrays and sizes by name, which launches rung.Kernel objects.

    The process is forked before any call is drawn, so it has neither the inputs of later calls nor any result. It sends
    bytes and JSON, nothing that runs code here.
    """

    kind = "function"

    def __init__(self, function, task):
        self.function, self.task = function, task
        self._process = self._pipe = None

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self):
        fork = multiprocessing.get_context("fork")
        self._pipe, other = fork.Pipe()
        self._process = fork.Process(target=_serve, args=(self.function, self.task, other), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about threads; the child uses none
            self._process.start()
        other.close()

    def run(self, calls):
        """Yields (call, Seen), each after its call has run."""
        self._start()
        for call in calls:
            if not call.gpu and not call.skips and not call.reaches:  # the function chooses the GPU
                yield call, self._call(call)

    def _call(self, call):
        seen = Seen()
        try:
            self._pipe.send((call.case.inputs, call.case.sizes, call.order))
            reply = json.loads(self._received())
            for array in self.task.arrays:
                data = np.frombuffer(self._received(), numpy_dtype(array.dtype))
                (seen.inputs if array.role == "in" else seen.outputs)[array.name] = data.reshape(
                    self.task.shape_of(array, call.case.sizes))
        except (EOFError, OSError, ValueError, TypeError) as error:
            return Seen(error=f"the function's process ended: {error}".rstrip(": "))
        seen.error, seen.hazards, seen.is_undecided = reply["error"], reply["hazards"], reply["is_undecided"]
        seen.launches, seen.counters, seen.by_host = reply["launches"], reply["counters"], reply["by_host"]
        if reply["run"] is not None:
            seen.run = _RemoteRun(self, *reply["run"])
        return seen

    def _received(self):
        if not self._pipe.poll(_SECONDS):
            self._process.kill()
            raise OSError(f"a call did not end in {_SECONDS} s")
        return self._pipe.recv_bytes()

    def predicted(self, number, gpu):
        self._pipe.send((number, gpu))
        return float(json.loads(self._received()))


class _RemoteRun:
    """The longest launch of a call, which the function's process keeps."""

    def __init__(self, runner, number, is_metal):
        self._runner, self._number = runner, number
        self.kernel = self
        self.is_metal = is_metal

    def predicted(self, gpu):
        return self._runner.predicted(self._number, gpu)


def _serve(function, task, pipe):
    """Answers calls, and questions for predicted times, until the judge's process closes the pipe."""
    runs = []
    while True:
        try:
            message = pipe.recv()
        except EOFError:
            return
        if len(message) == 2:
            number, gpu = message
            pipe.send_bytes(json.dumps(runs[number].predicted(gpu)).encode())
            continue
        seen = _called(function, task, *message)
        run = None
        if seen.run is not None and seen.launches == 1:
            run = (len(runs), bool(getattr(seen.run.kernel, "is_metal", True)))
            runs.append(seen.run)
        pipe.send_bytes(json.dumps({"error": seen.error, "hazards": seen.hazards, "is_undecided": seen.is_undecided,
                                    "launches": seen.launches, "counters": seen.counters, "by_host": seen.by_host,
                                    "run": run}).encode())
        for array in task.arrays:
            pipe.send_bytes((seen.inputs if array.role == "in" else seen.outputs)[array.name].tobytes())


def _called(function, task, inputs, sizes, order):
    seen = Seen()
    arrays = {}
    for array in task.arrays:
        arrays[array.name] = np.empty(task.shape_of(array, sizes), numpy_dtype(array.dtype))
        if array.role == "in":
            arrays[array.name][...] = inputs[array.name]
        else:
            arrays[array.name].reshape(-1).view(np.uint8)[:] = 0xFF
    observer = lambda kernel, run: seen.add(run)  # noqa: E731
    _kernel._observers.append(observer)
    _kernel._order = order
    left = _KernelResults()
    try:
        with left:
            function(**arrays, **sizes)
    except _kernel.Hazard:
        pass  # the observer has its run
    except (Exception, SystemExit) as error:  # whatever the function raises is its failure
        seen.error = f"{type(error).__name__}: {error}"
    finally:
        _kernel._order = 0
        _kernel._observers.remove(observer)
    for array in task.arrays:
        (seen.inputs if array.role == "in" else seen.outputs)[array.name] = arrays[array.name]
    if seen.launches > 0:
        seen.by_host = next((name for name, each in seen.outputs.items() if not left.have_all(each)), None)
    return seen


class _KernelResults:
    """The arrays that kernels have written while an object is entered. Python may move their elements, not make new ones."""

    def __init__(self):
        self._arrays = []

    def __enter__(self):
        self._ask = ask = _kernel_server.Server.ask

        def kept(server, text, payload, results=()):
            reply = ask(server, text, payload, results)
            self._arrays += [np.array(each) for each in results]
            return reply

        _kernel_server.Server.ask = kept

    def __exit__(self, *error):
        _kernel_server.Server.ask = self._ask

    def have_all(self, output):
        """True if each element of an output has the bits of one that a kernel has written."""
        kind = f"u{output.dtype.itemsize}"
        written = [each.reshape(-1).view(np.uint8) for each in self._arrays if each.nbytes % output.dtype.itemsize == 0]
        known = np.concatenate([each.view(kind) for each in written]) if written else np.empty(0, kind)
        return bool(np.isin(output.reshape(-1).view(kind), known).all())
