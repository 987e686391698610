"""Runs a candidate's host function in a process of its own, by `rung emu`."""

import json
import os
import re
import signal
import struct
import subprocess
import tempfile

import numpy as np

from .._command import PROGRAM
from .._core import UnavailableError
from .._kernel import _stored
from .._kernel_server import CompileError
from .checks import Finding
from .distributions import numpy_dtype
from .host_function import HostFunction
from .object_symbols import symbols_of
from .run_kernels import ORDER_LIMIT, Seen

_MARK = "rung_referee_call"
_SECONDS = 300  # of a program that hangs on the host
_MOST_ORDERS = 2  # each takes a process
_INSTRUCTIONS = "2000000000"  # of a launch, per warp


class ProgramRunner:
    """Compiles the candidate alone, then a program that calls it; one process makes all calls.

    Attributes
    ----------
    symbols, defined : list of str
        What the candidate's object needs from elsewhere, and what it defines for others.
    findings : list of Finding
        About the process as a whole.
    """

    kind = "program"

    def __init__(self, candidate, task):
        self.task, self.findings, self.folders = task, [], candidate.folders
        self.function = HostFunction(candidate, task)
        self._folder = tempfile.TemporaryDirectory(prefix="rung-referee-")
        self.folder = self._folder.name
        # Files of the cache of compiled code, which knows them by their paths.
        source = candidate.file or _stored(candidate.compiled_text, "candidate", ".cu")
        self.object = os.path.join(self.folder, "candidate.o")
        self._compile(source)
        with open(self.object, "rb") as file:
            data = file.read()
        self.symbols, self.defined = symbols_of(data)
        self.device_code = data.decode("latin-1")

    def close(self):
        self._folder.cleanup()

    def _run(self, command):
        """(exit code, standard error) of the program; a code of None if it did not end in time."""
        try:
            process = subprocess.Popen([PROGRAM, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, errors="replace", cwd=self.folder,
                                       start_new_session=True)
        except OSError as error:
            raise UnavailableError(f"rung: {PROGRAM}: {error.strerror}") from None
        try:
            said = process.communicate(timeout=_SECONDS)[1]
            return process.returncode, said
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the candidate's process, too
            process.communicate()
            return None, f"the program did not end in {_SECONDS} s"

    def _compile(self, source):
        code, said = self._run(["--nvcc", "-arch=sm_90a", "-lineinfo", *(f"-I{each}" for each in self.folders), "-c", source,
                                "-o", self.object])
        if code == 3:
            raise UnavailableError(said.strip())
        if code != 0:
            raise CompileError(said.replace(os.path.dirname(source) + "/", "").strip())

    def run(self, calls):
        """Yields (call, Seen) after all calls of an order and a GPU have run; each has a process of its own."""
        by_process = {}
        for call in calls:
            by_process.setdefault((call.order, call.gpu), []).append(call)
        for (order, gpu), some in by_process.items():
            if order <= _MOST_ORDERS:
                yield from self._run_in(order, gpu, some)

    def _run_in(self, order, gpu, calls):
        plan, results = os.path.join(self.folder, "plan"), os.path.join(self.folder, "results")
        report = os.path.join(self.folder, "report.json")
        for path in (report, results):
            if os.path.exists(path):
                os.remove(path)
        with open(plan, "wb") as file:
            file.write(struct.pack("<q", len(calls)))
            for call in calls:
                file.write(self._planned(call))
        harness = _stored(self.function.harness, "referee", ".cu")
        code, said = self._run(["emu", harness, self.object, "--gpu", gpu or self.task.gpu, "--threads", "1", "--limit",
                                str(ORDER_LIMIT) if order else _INSTRUCTIONS,
                                *(["--replay", str(order)] if order else []), "--json", report, "--", plan, results])
        ended = f"; exit code {code}" if code is not None else ""
        facts = {"kernels": [], "reports": []}
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                facts = json.load(file)
        yield from self._seen(calls, results, facts, _why(said) + ended)

    def _planned(self, call):
        flags = 1 * call.reuses + 2 * (call.purpose == "graph" and self.function.has_stream) + 4 * call.overlaps
        words = [flags, call.skips, call.reaches, *call.case.sizes.values()]
        parts = [struct.pack(f"<{len(words)}q", *words)]
        for array in self.task.arrays:
            data = call.case.inputs[array.name].tobytes() if array.role == "in" else b""
            size = int(np.prod(self.task.shape_of(array, call.case.sizes))) * numpy_dtype(array.dtype).itemsize
            parts.append(struct.pack("<qqq", call.offsets[array.name], size, array.role == "in") + data)
        return b"".join(parts)

    def _seen(self, calls, results, facts, said):
        is_aborted = any(report["kind"] == "instruction limit" for report in facts["reports"])
        launches = _by_call(facts["kernels"])
        hazards = self._hazards(facts["reports"], facts["kernels"], len(calls))
        data = b""
        if os.path.exists(results):
            with open(results, "rb") as file:
                data = file.read()
        at = 0
        for index, call in enumerate(calls):
            seen = Seen(hazards=hazards.get(index, []), is_undecided=is_aborted,
                        launches=0 if facts["kernels"] else -1)
            for launch in launches.get(index, []):
                seen.launches += 1
                for name, value in launch["counters"].items():
                    seen.counters[name] = seen.counters.get(name, 0) + value
            try:
                at = self._take(call, seen, data, at)
            except ValueError:
                seen.error = f"the program ended in this call: {said}"
                yield call, seen
                return
            yield call, seen

    def _take(self, call, seen, data, at):
        """Reads the results of a call; raises ValueError if they are missing."""
        if len(data) < at + 32:
            raise ValueError
        status, seen.host_bytes, seen.device_bytes, seen.live_objects = struct.unpack_from("<qqqq", data, at)
        seen.changes_state = status & 2 != 0
        if status & 1:
            self.findings.append(Finding("graph", "note", "cannot be captured in a graph; it was called directly",
                                         call.case.described()))
        at += 32
        for array in self.task.arrays:
            shape, offset = self.task.shape_of(array, call.case.sizes), call.offsets[array.name]
            dtype = numpy_dtype(array.dtype)
            end = at + offset + int(np.prod(shape)) * dtype.itemsize
            if len(data) < end:
                raise ValueError
            value = np.frombuffer(data[at + offset:end], dtype).reshape(shape)
            (seen.inputs if array.role == "in" else seen.outputs)[array.name] = value
            if set(data[at:at + offset]) - {0xA5 if array.role == "in" else 0xFF}:
                seen.broken_guards.append(array.name)
            at = end
        return at

    def _hazards(self, reports, kernels, count):
        """Messages of failing reports by call. Reports without a launch belong to the first call."""
        call_of, index = {}, -1
        for number, launch in enumerate(kernels, 1):
            index += launch["name"] == _MARK
            call_of[number] = max(0, index)
        found = {}
        for report in reports:
            if report["fails"]:
                launch = report["launches"][0] if report["launches"] else 0
                message = re.sub(r"/\S*/(?=[^/\s]*\.cu\b)", "", report["message"])
                found.setdefault(min(call_of.get(launch, 0), count - 1), []).append(message)
        return found


def _by_call(kernels):
    found, index = {}, -1
    for launch in kernels:
        if launch["name"] == _MARK:
            index += 1
        else:
            found.setdefault(max(0, index), []).append(launch)
    return found


def _why(text):
    """The lines of standard error that say why a program ended: the harness's own, otherwise the last two."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and "leak" not in line]
    return "; ".join([line for line in lines if line.startswith("referee: ")] or lines[-2:])[:300]
