"""Kernels on an NVIDIA GPU, by the CUDA driver: rung.Kernel(…, device="gpu")."""

import ctypes
import functools
import json

from ._core import UnavailableError

# Values of the driver's enumerations.
_MAJOR, _MINOR, _L2_BYTES = 75, 76, 38  # CUdevice_attribute
_MAX_SHARED = 8  # CUfunction_attribute
_CAPTURE_RELAXED = 2
_INVALID_IMAGE, _INVALID_PTX, _UNSUPPORTED_PTX, _NO_BINARY = 200, 218, 222, 209

# GPUs that `rung.Kernel` compiles for, by the least compute capability that runs their code.
_COMPILED_FOR = {(12, 0): "rtx5090", (10, 0): "b200", (9, 0): "h200", (8, 9): "l40s", (8, 0): "a100", (7, 5): "t4"}


class DriverError(RuntimeError):
    """A call of the CUDA driver that failed."""

    code = 0


class Gpu:
    """A GPU with its primary context, which other CUDA libraries of the process share."""

    def __init__(self, index):
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise UnavailableError("rung.Kernel: device='gpu' needs an NVIDIA GPU, and libcuda.so.1 is not installed;"
                                   " without one, leave out device=") from None
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), index)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.device, self._context = device, context
        name = ctypes.create_string_buffer(256)
        self("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode()
        self.capability = (self.attribute(_MAJOR), self.attribute(_MINOR))
        self.l2_bytes = self.attribute(_L2_BYTES)

    def __call__(self, function, *arguments):
        """Calls the driver. Raises DriverError if it fails."""
        code = getattr(self._library, function)(*arguments)
        if code == 0:
            return
        text = ctypes.c_char_p()
        self._library.cuGetErrorString(code, ctypes.byref(text))
        error = DriverError(f"{function}: {(text.value or b'unknown error').decode()} (CUDA error {code})")
        error.code = code
        raise error

    def attribute(self, which):
        value = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(value), which, self.device)
        return value.value

    def use(self):
        """Makes the context current in this thread."""
        self("cuCtxSetCurrent", self._context)

    @property
    def compiled_for(self):
        """The GPU of the virtual ones whose code this one runs."""
        for least, gpu in _COMPILED_FOR.items():
            if self.capability >= least:
                return gpu
        raise UnavailableError(f"rung.Kernel: the {self.name} has compute capability {self.capability[0]}."
                               f"{self.capability[1]}; kernels are compiled for 7.5 or later")

    def function(self, ptx, symbol):
        """The kernel of this symbol. Modules stay loaded."""
        self.use()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        try:
            self("cuModuleLoadData", ctypes.byref(module), ptx.encode() + b"\0")
        except DriverError as error:
            if error.code not in (_INVALID_IMAGE, _NO_BINARY, _INVALID_PTX, _UNSUPPORTED_PTX):
                raise
            raise UnavailableError(f"rung.Kernel: the driver of the {self.name} refuses this PTX ({error});"
                                   " with the package nvidia-cuda-nvrtc, NVIDIA's compiler makes it") from None
        self("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
        return function

    def allocate(self, size):
        """Device memory that is freed with the object."""
        return Memory(self, size)


class Memory:
    def __init__(self, gpu, size):
        self.gpu, self.size, self.address = gpu, size, ctypes.c_uint64()
        gpu("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(size, 1)))

    def __del__(self):
        if self.address.value:
            self.gpu._library.cuMemFree_v2(self.address)

    def write(self, source):
        """Copies an array or bytes of `size` bytes to the device."""
        if self.size:
            begin = ctypes.c_void_p(source.ctypes.data) if hasattr(source, "ctypes") else ctypes.c_char_p(source)
            self.gpu("cuMemcpyHtoD_v2", self.address, begin, ctypes.c_size_t(self.size))

    def fill(self, byte, stream=None):
        if self.size:
            self.gpu("cuMemsetD8Async", self.address, ctypes.c_ubyte(byte), ctypes.c_size_t(self.size), stream)

    def read(self, target):
        """Copies to a writable contiguous array of `size` bytes."""
        if self.size:
            self.gpu("cuMemcpyDtoH_v2", ctypes.c_void_p(target.ctypes.data), self.address, ctypes.c_size_t(self.size))


@functools.cache
def gpu(device):
    """The GPU that "gpu" or "gpu:1" names.

    Raises
    ------
    ValueError
        For another name.
    rung.UnavailableError
        If there is no such GPU.
    """
    kind, _, index = device.partition(":")
    if kind not in ("gpu", "cuda") or not (index or "0").isdigit():
        raise ValueError(f"rung.Kernel: device={device!r}; expected 'virtual', 'gpu', or 'gpu:1' for the second one")
    try:
        return Gpu(int(index or 0))
    except DriverError as error:
        raise UnavailableError(f"rung.Kernel: device={device!r}: {error}; without a GPU, leave out device=") from None


def device_array(value):
    """(address, dtype's name, bytes, whether it is contiguous) of an array on a GPU; None for anything else."""
    if getattr(value, "is_cuda", False) and hasattr(value, "data_ptr"):  # PyTorch's
        size = value.numel() * value.element_size()
        return value.data_ptr(), str(value.dtype).rpartition(".")[2], size, value.is_contiguous()
    try:
        interface = getattr(value, "__cuda_array_interface__", None)
    except (AttributeError, RuntimeError, TypeError):
        return None
    if interface is None:
        return None
    import numpy
    dtype = numpy.dtype(interface["typestr"])
    size = int(numpy.prod(interface["shape"], dtype=numpy.int64)) * dtype.itemsize
    strides, expected = interface.get("strides"), dtype.itemsize
    is_contiguous = True
    for extent, stride in reversed(list(zip(interface["shape"], strides or ()))):
        is_contiguous &= extent == 1 or stride == expected
        expected *= extent
    return interface["data"][0], dtype.name, size, is_contiguous


class Launch:
    """A launch with its arguments on the device."""

    def __init__(self, gpu, function, grid, block, shared, arguments):
        """`arguments` are the bytes of each parameter."""
        self._gpu, self._function, self._shape = gpu, function, (*grid, *block)
        self._shared = shared
        self._values = [ctypes.create_string_buffer(each, len(each)) for each in arguments]
        self._parameters = (ctypes.c_void_p * max(1, len(arguments)))(*map(ctypes.addressof, self._values))
        if shared > 48 << 10:
            gpu("cuFuncSetAttribute", function, _MAX_SHARED, shared)

    def enqueue(self, stream=None):
        self._gpu("cuLaunchKernel", self._function, *self._shape, self._shared, stream, self._parameters, None)


class Stopwatch:
    """The time between two events of a stream."""

    def __init__(self, gpu):
        self._gpu = gpu
        self._events = ctypes.c_void_p(), ctypes.c_void_p()
        for event in self._events:
            gpu("cuEventCreate", ctypes.byref(event), 0)

    def __del__(self):
        for event in self._events:
            if event.value:
                self._gpu._library.cuEventDestroy_v2(event)

    def seconds(self, enqueue, stream=None):
        """Calls `enqueue()`, waits, and returns the seconds that the GPU took."""
        begin, end = self._events
        self._gpu("cuEventRecord", begin, stream)
        enqueue()
        self._gpu("cuEventRecord", end, stream)
        self._gpu("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self._gpu("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        return milliseconds.value / 1e3


class Graph:
    """Operations that were captured in a stream, and are launched again without the host's time for each."""

    def __init__(self, gpu, enqueue):
        self._gpu, self.stream = gpu, ctypes.c_void_p()
        gpu("cuStreamCreate", ctypes.byref(self.stream), 0)  # waits for the default stream
        graph, self._executable = ctypes.c_void_p(), ctypes.c_void_p()
        gpu("cuStreamBeginCapture_v2", self.stream, _CAPTURE_RELAXED)
        enqueue(self.stream)
        gpu("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        gpu("cuGraphInstantiateWithFlags", ctypes.byref(self._executable), graph, ctypes.c_ulonglong(0))
        gpu("cuGraphDestroy", graph)

    def launch(self):
        self._gpu("cuGraphLaunch", self._executable, self.stream)


class GpuRun:
    """A launch on a GPU.

    Attributes
    ----------
    seconds : float
        The time between events before and after the launch. The first launch includes the loading of its code.
    device : str
        The GPU's name.
    """

    def __init__(self, kernel, device, seconds):
        self.kernel, self.device, self.seconds = kernel, device, seconds

    def __getattr__(self, name):
        if name in ("ok", "hazards", "counters", "lines", "unwritten", "printed", "explained", "predicted"):
            raise AttributeError(f"rung.Kernel: a run on a GPU has no '{name}'; the virtual GPU has: leave out device=")
        raise AttributeError(name)

    def __repr__(self):
        return f"<rung.GpuRun {self.kernel.name} on {self.device}: {self.seconds * 1e6:.4g} us>"


class LoadedKernel:
    """A rung.Kernel on a GPU."""

    def __init__(self, kernel, gpu, ptx, symbol):
        self._kernel, self.gpu = kernel, gpu
        self._function = gpu.function(ptx, symbol)
        self._stopwatch = Stopwatch(gpu)

    def run(self, arguments, launch, poison):
        """Copies arrays to the GPU, launches, waits, and copies back what the kernel may have written."""
        self.gpu.use()
        prepared, results = self.prepared(arguments, launch, poison)
        try:
            seconds = self._stopwatch.seconds(prepared.enqueue)
        except DriverError as error:
            raise DriverError(f"{self._kernel.name}: {error}; without device=, the virtual GPU names the line") from None
        for memory, array in results:
            memory.read(array)
        return GpuRun(self._kernel, self.gpu.name, seconds)

    def prepared(self, arguments, launch, poison=False):
        """A Launch, and pairs of device memory and the array that it belongs to."""
        on_device = [device_array(each) for each in arguments]
        parameters = self._kernel._signature.parameters
        for parameter, found in zip(parameters, on_device):
            if found is not None:
                _check(parameter, *found[1:])
        rest = [None if found else value for value, found in zip(arguments, on_device)]
        given, payload, results = self._kernel._signature.bind(rest, poison)
        values, memories, at, left = [], {}, 0, iter(results)
        bound = json.loads(f"{{{given}}}")
        for owner, field in bound.get("members", []):
            parameters[owner].fail(TypeError, f"{parameters[owner].fields[field][0]}: on a GPU, a pointer within a struct"
                                              " can only be None; pass the array as a parameter")
        for index, (kind, *facts) in enumerate(bound["given"]):
            if kind == "value":
                values.append(payload[at:at + facts[0]])
                at += facts[0]
            elif kind == "buffer":
                size, _, has_value, is_result, offset = facts
                memory = self.gpu.allocate(size)
                if has_value:
                    memory.write(payload[at:at + size])
                else:
                    memory.fill(0xFF)
                at += size
                memories[index] = memory, next(left) if is_result else None
                values.append((memory.address.value + offset).to_bytes(8, "little"))
            elif kind == "alias":
                values.append((memories[facts[0]][0].address.value + facts[1]).to_bytes(8, "little"))
            else:
                values.append((on_device[index][0] if on_device[index] else 0).to_bytes(8, "little"))
        grid, block, shared = launch["grid"], launch["block"], launch["shared"]
        prepared = Launch(self.gpu, self._function, grid, block, shared, values)
        prepared.memories = memories  # they live as long as the launch
        return prepared, [pair for pair in memories.values() if pair[1] is not None]


def _check(parameter, dtype, size, is_contiguous):
    """Raises unless an array on the GPU fits the parameter."""
    if parameter.kind != "buffer":
        parameter.fail(TypeError, "expected a number, got an array on the GPU")
    if not is_contiguous:
        parameter.fail(ValueError, "the array is not C-contiguous")
    # Types that NumPy lacks, such as bfloat16, are void to __cuda_array_interface__.
    if parameter.dtype is not None and parameter.is_scalar and dtype != parameter.dtype and not dtype.startswith("void"):
        parameter.fail(TypeError, f"expected dtype {parameter.dtype}, got {dtype}")
    if parameter.bytes > 1 and size % parameter.bytes:
        parameter.fail(ValueError, f"the array has {size} bytes, no multiple of the {parameter.bytes} of an element")
