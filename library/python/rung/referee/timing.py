"""Times a candidate's launch lines on a GPU, and verifies the results of the timed calls.

The candidate runs in a process of its own (`python -m rung.referee.timing FOLDER`). Its calls go round several sets of
inputs, together larger than the GPU's L2, in one CUDA graph, so that the host's time for a launch does not count. With a
baseline, the two take turns.
"""

import ctypes
import json
import math
import os
import pathlib
import pickle
import statistics
import subprocess
import sys
import tempfile
import types

import numpy as np

from .. import _devices, _gpu
from .._kernel import Kernel
from .candidate import read
from .cases import Call, drawn, public_shapes
from .cheats import too_fast
from .checks import Finding, check
from .distributions import numpy_dtype
from .roofline import GPUS, floor_seconds
from .run_kernels import KernelRunner, Seen

_ROUNDS = 11
_ROUND_SECONDS = 2e-3
_MOST_NODES = 4000  # of a graph
_MOST_SETS, _MOST_BYTES = 8, 1 << 30
_TIMEOUT = 300  # seconds
_REASONS = {0x4: "power limit", 0x8: "hardware slowdown", 0x20: "thermal limit", 0x40: "thermal limit",
            0x80: "power brake"}  # nvmlClocksThrottleReasons


def first_gpu():
    """The name of the GPU that is timed on; None without one."""
    return next((each.name for each in _devices.devices() if each.kind == "cuda"), None)


def measure(candidate, task, seed):
    """Times a candidate on the shapes of `task.timed`.

    Returns
    -------
    tuple
        Facts about the device, a list of times in seconds, and a list of findings.
    """
    rng = np.random.default_rng([seed, 58])
    facts, times, findings = {}, [], []
    baseline = read(pathlib.Path(task.baseline), task.launch) if task.baseline else None
    for sizes in task.timed or [max(public_shapes(task), key=task.work)]:
        cases = [drawn(task, rng, f"timed {index}", sizes, "normal") for index in range(_sets(task, sizes))]
        reply = _in_a_process([each for each in (candidate, baseline) if each], task, cases)
        if "error" in reply:
            severity = "wrong" if reply["is_fault"] else "note"
            findings.append(Finding("timing", severity, reply["error"], cases[0].described()))
            facts = facts or {"device": None, "reason": reply["error"]}
            continue
        facts = {"device": reply["device"], "reason": None, **reply["state"]}
        for case, outputs, inputs in zip(cases, reply["outputs"], reply["inputs"]):
            findings += check(Call(case, "timed", {}), Seen(outputs=outputs, inputs=inputs))[0]
        gpu = _known(reply["device"])
        times.append(_time(sizes, reply, floor_seconds(task, sizes, gpu)[0]))
        findings += too_fast(task, sizes, times[-1]["seconds"], gpu, "measured", times[-1]["shape"])
    return facts, times, findings


def _sets(task, sizes):
    """The number of sets of inputs: more than L2 holds, as far as memory and the reference's time allow."""
    size = sum(int(np.prod(task.shape_of(each, sizes))) * numpy_dtype(each.dtype).itemsize for each in task.arrays)
    wanted = -(-2 * (60 << 20) // max(size, 1))
    return int(max(1, min(wanted, _MOST_SETS, _MOST_BYTES // max(size, 1), 2e11 // max(task.work(sizes), 1) + 1)))


def _known(device):
    """The name that the roofline has for a device such as "NVIDIA H200"; empty for others."""
    words = device.lower().replace("-", " ").split()
    return next((each for each in GPUS if each in words), "")


def _time(sizes, reply, floor):
    ours, *others = reply["seconds"]
    low, _, high = statistics.quantiles(ours, n=4)
    found = {"shape": ", ".join(f"{name}={value}" for name, value in sizes.items()), "source": "measured",
             "gpu": reply["device"], "seconds": _short(statistics.median(ours)), "floor_seconds": floor,
             "quartiles": [_short(low), _short(high)]}
    for other in others:
        found["baseline_seconds"] = _short(statistics.median(other))
        found["speedup"] = _short(statistics.median(theirs / own for own, theirs in zip(ours, other)))
    return found


def _short(value):
    return float(f"{value:.6g}")


def _in_a_process(candidates, task, cases):
    """The reply of the timing process, or {"error": the reason, "is_fault": whether the candidate is at fault}."""
    request = {"candidates": candidates, "sizes": cases[0].sizes, "inputs": [each.inputs for each in cases],
               "arrays": [(each.name, each.role, each.dtype, task.shape_of(each, cases[0].sizes)) for each in task.arrays],
               "names": list(task.operation.sizes)}
    with tempfile.TemporaryDirectory(prefix="rung-timing-") as folder:
        with open(os.path.join(folder, "request"), "wb") as file:
            pickle.dump(request, file)
        try:
            ended = subprocess.run([sys.executable, "-m", __name__, folder], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            return {"error": f"no result after {_TIMEOUT} s", "is_fault": True}
        try:
            with open(os.path.join(folder, "reply"), "rb") as file:
                return pickle.load(file)
        except OSError:
            last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
            return {"error": last[0], "is_fault": False}


class _Array:
    """An array on the GPU, as `device_array` reads it."""

    def __init__(self, gpu, shape, dtype):
        self.dtype, self.shape = numpy_dtype(dtype), shape
        self.memory = gpu.allocate(math.prod(shape) * self.dtype.itemsize)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.memory.address.value, False), "version": 3}

    def value(self):
        found = np.empty(self.shape, self.dtype)
        self.memory.read(found)
        return found


class _GpuRunner(KernelRunner):
    """Turns a candidate's steps into operations on a stream."""

    def __init__(self, candidate, task, gpu):
        self.gpu = gpu
        super().__init__(candidate, task)

    def _compiled(self, source, name):
        return Kernel(source, name, device="gpu")

    def operations(self, arrays, sizes):
        """Functions of a stream, in order."""
        found = []
        for step in self.candidate.steps:
            if step.kind == "clear":
                memory = arrays[step.name].memory
                found.append(lambda stream, memory=memory: memory.fill(0, stream))
                continue
            for kernel, values, options in self.launches(step, arrays, sizes):
                block = options.get("block", options.get("group"))
                text = kernel._launch(options.get("grid"), block, options.get("groups"), options["shared"], 0)
                launch = json.loads(f"{{{text}}}")
                found.append(kernel._loaded.prepared(values, launch)[0].enqueue)
        return found


def _timed(request):
    gpu = _gpu.gpu("gpu")
    gpu.use()
    task = types.SimpleNamespace(arrays=[types.SimpleNamespace(name=name) for name, *_ in request["arrays"]],
                                 operation=types.SimpleNamespace(sizes=request["names"]), gpu=None)
    sets, graphs, stopwatch = [], [], _gpu.Stopwatch(gpu)
    for candidate in request["candidates"]:
        runner = _GpuRunner(candidate, task, gpu)
        sets.append([_arrays(gpu, candidate, request, inputs) for inputs in request["inputs"]])
        each_set = [runner.operations(arrays, request["sizes"]) for arrays in sets[-1]]
        once = [operation for operations in each_set for operation in operations]
        first = _gpu.Graph(gpu, lambda stream: [operation(stream) for operation in once])
        stopwatch.seconds(first.launch, first.stream)
        seconds = stopwatch.seconds(first.launch, first.stream)
        repeats = int(max(1, min(_ROUND_SECONDS / max(seconds, 1e-9), _MOST_NODES / max(len(once), 1))))
        graph = _gpu.Graph(gpu, lambda stream: [operation(stream) for _ in range(repeats) for operation in once])
        graphs.append((graph, repeats * len(each_set)))
    _poison(request, sets[0])
    seconds, state = [[] for _ in graphs], _State(gpu)
    for turn in range(_ROUNDS + 2):
        for index in range(len(graphs)) if turn % 2 else reversed(range(len(graphs))):
            graph, calls = graphs[index]
            taken = stopwatch.seconds(graph.launch, graph.stream) / calls
            if turn >= 2:
                seconds[index].append(taken)
        state.look()
    roles = {name: role for name, role, *_ in request["arrays"]}
    of_role = lambda wanted: [{name: each.value() for name, each in arrays.items()  # noqa: E731
                               if name in roles and (roles[name] == "in") == wanted} for arrays in sets[0]]
    return {"device": gpu.name, "seconds": seconds, "state": state.facts(), "outputs": of_role(False),
            "inputs": of_role(True)}


def _arrays(gpu, candidate, request, inputs):
    from .expressions import evaluate

    arrays = {}
    for name, _, dtype, shape in request["arrays"]:
        arrays[name] = _Array(gpu, shape, dtype)
        if name in inputs:
            arrays[name].memory.write(np.ascontiguousarray(inputs[name]))
    for name, (dtype, elements) in candidate.workspaces.items():
        arrays[name] = _Array(gpu, (max(1, evaluate(elements, request["sizes"])),), dtype)
        arrays[name].memory.fill(0xFF)
    return arrays


def _poison(request, sets):
    """The timed calls find outputs without a value."""
    for name, role, *_ in request["arrays"]:
        if role != "in":
            for arrays in sets:
                arrays[name].memory.fill(0xFF)


class _State:
    """The clock, the power and the limits of a GPU while it is timed, by NVML; nothing where it is not installed."""

    def __init__(self, gpu):
        self._clocks, self._watts, self._reasons = [], [], 0
        try:
            self._nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self._nvml = None
            return
        bus, self._device = ctypes.create_string_buffer(32), ctypes.c_void_p()
        gpu("cuDeviceGetPCIBusId", bus, len(bus), gpu.device)
        if self._nvml.nvmlInit_v2() or self._nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(self._device)):
            self._nvml = None

    def look(self):
        if self._nvml is None:
            return
        clock, power, reasons = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_ulonglong()
        if self._nvml.nvmlDeviceGetClockInfo(self._device, 1, ctypes.byref(clock)) == 0:  # of the SMs
            self._clocks.append(clock.value)
        if self._nvml.nvmlDeviceGetPowerUsage(self._device, ctypes.byref(power)) == 0:
            self._watts.append(power.value / 1000)
        if self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._device, ctypes.byref(reasons)) == 0:
            self._reasons |= reasons.value

    def facts(self):
        return {"sm_mhz": [min(self._clocks), max(self._clocks)] if self._clocks else None,
                "watts": max(self._watts, default=None),
                "limited_by": sorted({name for bit, name in _REASONS.items() if self._reasons & bit})}


def main(folder):
    with open(os.path.join(folder, "request"), "rb") as file:
        request = pickle.load(file)
    try:
        reply = _timed(request)
    except (RuntimeError, ValueError, TypeError) as error:
        reply = {"error": str(error), "is_fault": isinstance(error, _gpu.DriverError)}
    with open(os.path.join(folder, "reply"), "wb") as file:
        pickle.dump(reply, file)


if __name__ == "__main__":
    main(sys.argv[1])
