"""rung.Kernel: kernels of CUDA C++, PTX or Metal on arrays, run by the virtual GPU."""

import json
import os
import re
import sys
import weakref

from . import _kernel_server
from ._core import UnavailableError
from ._kernel_arguments import Signature, extents
from ._kernel_run import Hazard, Run
from ._kernel_server import CompileError

__all__ = ["CompileError", "Hazard", "Kernel", "Run"]

_SUFFIXES = {"cuda": ".cu", "metal": ".metal", "ptx": ".ptx"}
_KEPT_BYTES = 1 << 26  # a run keeps its inputs up to this size, for predicted()
_KEPT_SOURCES = 1000  # folders of sources, from which on old ones are removed
_KEPT_SECONDS = 30 * 24 * 3600
_order = 0  # the schedule of launches that name none; the pytest plugin sets it
_observers = []  # functions of (Kernel, Run), called after each launch


def _language(text):
    if re.search(r"^\s*\.version\s", text, re.MULTILINE):
        return "ptx"
    return "metal" if re.search(r"metal_stdlib|\bkernel\s+void\b|\[\[\s*kernel\s*\]\]", text) else "cuda"


def _source_folder():
    """The folder for sources that are not files. It persists with the cache of compiled kernels, which knows them by
    their paths."""
    cache = os.environ.get("RUNG_EMU_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "rung", "emu")
    if cache != "off":
        folder = os.path.join(cache, "sources")
        try:
            os.makedirs(folder, exist_ok=True)
            return folder
        except OSError:
            pass
    import tempfile
    global _temporary
    if _temporary is None:
        _temporary = tempfile.TemporaryDirectory(prefix="rung-kernels-")
    return _temporary.name


_temporary = None


def _remove_old(folder):
    """Removes the sources that were not used for a month if there are many."""
    import shutil
    import time

    with os.scandir(folder) as entries:
        found = list(entries)
    if len(found) <= _KEPT_SOURCES:
        return
    for entry in found:
        try:
            if time.time() - entry.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(entry.path, ignore_errors=True)
        except OSError:
            pass  # another process has removed it


def _stored(text, name, suffix):
    """The path of a file with this text."""
    import hashlib
    import tempfile

    stem = re.sub(r"\W.*", "", name.rpartition("::")[2] if "<" not in name else name) or "kernel"
    folder = os.path.join(_source_folder(), hashlib.sha256(text.encode()).hexdigest()[:32])
    path = os.path.join(folder, stem + suffix)
    try:
        os.utime(folder)  # the time of the last use
    except OSError:
        os.makedirs(folder, exist_ok=True)
        _remove_old(os.path.dirname(folder))
    if not os.path.exists(path):
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as draft:
            draft.write(text)
        os.replace(draft.name, path)
    return path


class Kernel:
    """A kernel of CUDA C++, PTX or Metal, compiled for the virtual GPU.

    The text is compiled once and kept on disk, in the cache of `rung emu`. CUDA C++ and Metal need clang 19 or later
    on the PATH; PTX needs nothing. Without clang, CUDA C++ is compiled by NVRTC if the package nvidia-cuda-nvrtc is
    installed.

    Parameters
    ----------
    source : str or os.PathLike
        The text, or the path of a .cu, .metal or .ptx file. A str of one line with such a suffix is a path.
    name : str, optional
        The kernel, with its template arguments if it is a template: "softmax<float, 128>". May be left out if the
        source has one kernel.
    gpu : str
        The GPU to simulate, as for `rung run --gpu`: "h200", "a100", "t4", "h200,multiprocessors=4", …
    constants : mapping of str to number or bool, optional
        Values of Metal's function constants; in CUDA C++, of macros.
    include : sequence of str
        Folders of headers.
    std : str, optional
        The C++ standard, such as "c++20".
    options : sequence of str
        More options for the compiler.
    device : str
        "virtual", or "gpu" or "gpu:1" for an NVIDIA GPU of this machine. There, code of NVRTC is preferred, arrays may
        be on the GPU (PyTorch's, or any with __cuda_array_interface__), launches are in the default stream, and a
        call returns a `rung.GpuRun` with the time instead of hazards and counters.
    beside : rung.Kernel, optional
        A kernel of the same source and options. Both share the variables of their module, unless one is a template.

    Raises
    ------
    rung.CompileError
        With the compiler's messages, and the line of the first error as `line`.
    rung.UnavailableError
        Without clang, and for CUDA C++ without NVRTC.
    ValueError
        If the source has no such kernel.

    Examples
    --------
    >>> import numpy as np, rung
    >>> k = rung.Kernel('''
    ... extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    ...   int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...   if (i < n) y[i] += a * x[i];
    ... }''', "saxpy")
    >>> x, y = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
    >>> run = k[1, 32](2, x, y, 5)
    >>> y
    array([1., 3., 5., 7., 9.], dtype=float32)
    >>> run.counters["global_store_sectors"], run.hazards
    (1, [])
    """

    _language = None

    def __init__(self, source, name="", *, gpu=None, constants=None, include=(), std=None, options=(),
                 device="virtual", beside=None):
        name = name or ""
        self._beside = beside
        self._gpu = None
        if device != "virtual":
            from . import _gpu
            self._gpu = _gpu.gpu(device)
            if gpu is not None:
                raise ValueError("rung.Kernel: gpu= is a GPU to simulate, and device= a real one; expected one of them")
            gpu = self._gpu.compiled_for
        text = None if isinstance(source, os.PathLike) else source
        if text is not None and "\n" not in text and text.endswith(tuple(_SUFFIXES.values())):
            text = None
        if text is None:
            path = os.path.abspath(os.fspath(source))
            if not path.endswith(tuple(_SUFFIXES.values())):
                raise ValueError(f"rung.Kernel: '{source}' does not end in .cu, .metal or .ptx")
            language = next(each for each, suffix in _SUFFIXES.items() if path.endswith(suffix))
        else:
            language = self._language or _language(text)
            stem = name if beside is None else beside._request["kernel"]  # PTX has the names of files
            path = _stored(text, stem, _SUFFIXES[language])
        values = {each: _constant(each, value) for each, value in (constants or {}).items()}
        words = [*(f"-I{os.path.abspath(folder)}" for folder in include), *options]
        if std is not None:
            words.append(f"-std={std}")
        if language != "metal":
            words += [f"-D{each}={value}" for each, value in values.items()]
        self._request = {"path": path, "kernel": name, "options": words, "constants": values,
                         "gpu": gpu or ("m1pro" if language == "metal" else "h200")}
        self._is_text = text is not None
        self._language_of = language
        self.is_metal = language == "metal"
        if self.is_metal and self._gpu is not None:
            raise ValueError("rung.Kernel: Metal kernels run on the virtual GPU alone; leave out device=")
        self._server = None
        self._id = None
        self._compile()

    def _compile(self):
        """Hands the kernel to the server of this process."""
        server = _kernel_server.server()
        if server is self._server:
            return
        if self._beside is not None:
            self._beside._compile()
            self._request["beside"] = self._beside._id
        reply = self._asked(server, self._request)
        if reply.get("error") == "missing" and self._language_of == "cuda":
            reply = self._by_nvrtc(server, reply["arch"]) or reply
        if "error" in reply:
            # A text that is no file of the user's is named without its folder.
            if self._is_text:
                folder = os.path.join(os.path.dirname(self._request["path"]), "")
                reply["message"] = reply["message"].replace(folder, "")
            raise _error(reply, self._request["kernel"])
        unknown = set(self._request["constants"]) - set(reply["constants"])
        if self.is_metal and unknown:
            raise ValueError(f"rung.Kernel: the source has no function constant '{min(unknown)}'"
                             f"; it has {', '.join(reply['constants']) or 'none'}")
        self._server, self._id = server, reply["id"]
        self.name, self.code, self.device = reply["name"], reply["code"], reply["device"]
        self._signature = Signature(self.name, reply["parameters"])
        if reply["warnings"]:
            sys.stderr.write(reply["warnings"])
        weakref.finalize(self, server.forgotten.append, self._id)
        if self._gpu is not None:
            self._load()

    def _load(self):
        """Hands the kernel to the GPU."""
        from ._gpu import LoadedKernel

        compiled = None
        if self._language_of == "cuda":
            major, minor = self._gpu.capability
            compiled = self._compiled_by_nvrtc(10 * major + minor)
        if compiled is None:
            found = self._asked(self._server, {"ptx": self._id})
            compiled = found["ptx"], found["symbol"]
        else:
            self.code = f"PTX by NVRTC for compute capability {major}.{minor}"
        self.device = self._gpu.name
        self._loaded = LoadedKernel(self, self._gpu, *compiled)

    @staticmethod
    def _asked(server, request):
        return json.loads(server.ask(json.dumps(request).encode(), b"")[0])

    def _text(self):
        with open(self._request["path"], encoding="utf-8") as file:
            return file.read()

    def _compiled_by_nvrtc(self, arch):
        """PTX by NVRTC and the kernel's symbol there; None if it is not installed."""
        from . import _nvrtc

        return _nvrtc.compile(self._text(), os.path.basename(self._request["path"]),
                              self._request["kernel"] or getattr(self, "name", ""), self._request["options"], arch)

    def _by_nvrtc(self, server, arch):
        """The server's reply for PTX that NVRTC makes; None if it is not installed."""
        from . import _nvrtc

        path, kernel = self._request["path"], self._request["kernel"]
        compiled = self._compiled_by_nvrtc(arch)
        if compiled is None:
            return None
        ptx, symbol = compiled
        reply = self._asked(server, {**self._request, "path": _stored(ptx, kernel, ".ptx"), "kernel": symbol,
                                     "options": [], "source": path, "names": _nvrtc.names(self._text(), kernel)})
        if "error" not in reply:
            reply.update(name=kernel or reply["name"], code=f"PTX for compute_{arch} by NVRTC")
            _nvrtc.name_parameters(reply["parameters"], self._text(), kernel)
        return reply

    @property
    def signature(self):
        """The parameters that a call sets, as "const float* x"."""
        return [f"{each.type} {each.label}" for each in self._signature.parameters]

    @property
    def ptx(self):
        """The PTX of the kernel's file, which the virtual GPU runs; of Metal, too."""
        self._compile()
        return self._asked(self._server, {"ptx": self._id})["ptx"]

    def __repr__(self):
        return f"<rung.Kernel {self.name}({', '.join(self.signature)})>"

    def __getitem__(self, configuration):
        """kernel[grid, block] or kernel[grid, block, shared]: a function of the arguments."""
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 3:
            raise TypeError("rung.Kernel: expected kernel[grid, block] or kernel[grid, block, shared bytes]")
        grid, block, *shared = configuration
        launch = self._launch(grid, block, None, sum(shared), 0)

        def call(*arguments, on_hazard="raise", poison=False, threads=0, schedule=None, limit=0, **named):
            text = launch if threads == 0 else self._launch(grid, block, None, sum(shared), threads)
            return self._run(arguments, named, text, on_hazard, poison, schedule, limit)

        return call

    def __call__(self, *arguments, grid=None, block=None, group=None, groups=None, shared=0, on_hazard="raise",
                 poison=False, threads=0, schedule=None, limit=0, **named):
        """Launches the kernel, waits, and updates the arrays that it may write in place.

        Parameters
        ----------
        *arguments, **named
            The kernel's arguments, in order or by name. Pointers take C-contiguous arrays on the CPU of any library with
            the buffer protocol or DLPack, of the dtype of the signature, or None for null; pointers to const take numbers
            and structs, too. Numbers are converted if the type can hold them. A struct takes a dict or a sequence of its
            scalars, or a NumPy scalar of its size; its pointers and textures take arrays. Arrays that overlap, overlap
            on the device, too.
        grid : int or tuple of at most 3 int
            In CUDA the blocks of the grid. In Metal its threads, as dispatchThreads takes them.
        block : int or tuple of at most 3 int
            The threads of a block. `group` is another name.
        groups : int or tuple of at most 3 int, instead of grid
            The threadgroups of the grid.
        shared : int
            Bytes of dynamic shared memory.
        on_hazard : {'raise', 'report'}
            What a race, an access out of bounds, an uninitialised read and the like do.
        poison : bool, str or sequence of str
            True fills all arrays that the kernel may write with NaN (0xFF), and makes it a hazard to read them before they
            are written; a name does so with one parameter.
        threads : int
            The most CPU threads; 0 for all.
        schedule : int
            The seed of a random order of blocks, warps and operations; 0 (default) is the usual order.
        limit : int
            Warp instructions after which the launch is aborted, which is a hazard. 0 (default): 2**40.

        Returns
        -------
        rung.Run, or rung.GpuRun on a GPU

        Raises
        ------
        rung.Hazard
            Has the run as `run`. The arrays are updated as far as the kernel came.
        TypeError, ValueError
            For arguments that do not fit; the message names the parameter.
        """
        launch = self._launch(grid, block if group is None else group, groups, shared, threads)
        return self._run(arguments, named, launch, on_hazard, poison, schedule, limit)

    def _run(self, arguments, named, launch, on_hazard, poison, schedule, limit):
        if self._server is not _kernel_server._server or self._server.owner != os.getpid():
            self._compile()
        if named:
            arguments = self._signature.in_order(arguments, named)
        if self._gpu is not None:
            return self._loaded.run(arguments, json.loads(f"{{{launch}}}"), poison)
        given, payload, results = self._signature.bind(arguments, poison)
        if on_hazard not in ("raise", "report"):
            raise ValueError(f"{self.name}: on_hazard={on_hazard!r}; expected 'raise' or 'report'")
        schedule = _order if schedule is None else schedule
        if schedule:
            launch += f',"schedule":{int(schedule)}'
        if limit:
            launch += f',"limit":{int(limit)}'
        # Written by hand: json.dumps takes longer than the launch of a small kernel.
        text = f'{{"kernel":{self._id},{launch},{given}}}'.encode()
        reply, quiet = self._server.ask(text, payload, results)
        if not quiet:
            facts = json.loads(reply)
            if "error" in facts:
                raise _error(facts, self.name)
            sys.stdout.write(facts["printed"])
        run = Run(self, reply, launch, given, payload if len(payload) <= _KEPT_BYTES else None)
        for observer in _observers:
            observer(self, run)
        if not quiet and on_hazard == "raise" and not run.ok:
            raise Hazard(run)
        return run

    def _launch(self, grid, block, groups, shared, threads):
        if block is None or (grid is None) == (groups is None):
            named = "group" if self.is_metal else "block"
            missing = f"{named}= is missing" if block is None else "grid= is missing" if grid is None else "grid= and groups= are given"
            raise TypeError(f"{self.name}: {missing}; expected grid= and {named}=, such as grid=4, {named}=256")
        block = extents("block", block)
        total = "null"
        if groups is not None:
            grid = extents("groups", groups)
        else:
            grid = extents("grid", grid)
            if self.is_metal:
                total = f"[{grid[0]},{grid[1]},{grid[2]}]"
                grid = tuple(-(-all_of // each) for all_of, each in zip(grid, block))
        return (f'"grid":[{grid[0]},{grid[1]},{grid[2]}],"block":[{block[0]},{block[1]},{block[2]}],'
                f'"threads":{total},"shared":{int(shared)},"cpu_threads":{int(threads)}')


def _constant(name, value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise TypeError(f"constants: '{name}' is {value!r}; expected a number or a bool")
    return repr(value.item() if hasattr(value, "item") else value)


def _error(reply, name):
    message = reply["message"].strip()
    if reply["error"] == "compile":
        error = CompileError(message or f"{name}: does not compile")
        line = re.search(r"^[^\s:][^:\n]*:(\d+):(?:\d+:)? (?:fatal )?error:", message, re.MULTILINE)
        error.line = int(line.group(1)) if line else None
        return error
    return {"missing": UnavailableError, "argument": ValueError}.get(reply["error"], RuntimeError)(message)
