"""PyTorch's tensors of the CPU for kernels of the virtual GPU; the device "cuda" is the CPU.

PyTorch's own kernels for NVIDIA's GPUs do not run: their runtime asks for what only NVIDIA's driver has.
"""

import contextlib
import functools
import gc
import importlib.machinery
import mmap
import os
import sys
import warnings
import weakref

from . import driver

_registered = {}  # by address: bytes of a storage that this module has registered, and a reference to it
_EXTENSION_MARK = b"rung_extension"  # in the symbols of an extension that was compiled with torch_extension.hpp


def register(tensor):
    """Makes the whole storage of a tensor of the CPU accessible to kernels, and nothing beyond it, until it is freed.

    An extension's allocator registers and unregisters its own memory.
    """
    if tensor.device.type != "cpu":
        return
    storage = tensor.untyped_storage()
    address, size = storage.data_ptr(), storage.nbytes()
    if size == 0 or _registered.get(address, (0,))[0] == size:
        return
    if not _registered:
        driver.use_device()
    for other, (bytes_of, reference) in list(_registered.items()):
        if other < address + size and address < other + bytes_of:
            of = reference()
            if of is None or of.data_ptr() != other:  # resized
                _forget(other)
    if driver.register(address, size):
        _registered[address] = size, weakref.ref(storage)
        weakref.finalize(storage, _forget, address).atexit = False


def _forget(address):
    if _registered.pop(address, None) is not None:
        driver.unregister(address)


def register_all(torch):
    """Registers every tensor of the process."""
    for tensor in gc.get_objects():
        if issubclass(type(tensor), torch.Tensor):
            register(tensor)


@contextlib.contextmanager
def own_symbols_first():
    """Libraries that are loaded inside prefer their own CUDA runtime: PyTorch makes NVIDIA's visible to all."""
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
    try:
        yield
    finally:
        sys.setdlopenflags(flags)


def adopt(loaded, torch):
    """Prepares an extension that was just loaded: its functions register the tensors that they get, which may have memory
    of other libraries (torch.from_numpy)."""
    register_all(torch)
    for name, value in list(getattr(loaded, "__dict__", {}).items()):
        if callable(value) and not isinstance(value, type) and not name.startswith("__"):
            setattr(loaded, name, _with_registered_tensors(value, torch))


def _with_registered_tensors(function, torch):
    def call(*args, **named):
        for each in (*args, *named.values()):
            if isinstance(each, torch.Tensor):
                register(each)
        return function(*args, **named)

    functools.update_wrapper(call, function)
    return call


def _is_extension(path):
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(_EXTENSION_MARK) >= 0
    except (OSError, ValueError):
        return False


def _adopt_imported_extensions(torch):
    """Extensions that setup.py has built are modules like others, or libraries of torch.ops."""
    loader = importlib.machinery.ExtensionFileLoader
    create, execute, load_library = loader.create_module, loader.exec_module, torch.ops.load_library

    def create_module(self, spec):
        with own_symbols_first() if _is_extension(self.path) else contextlib.nullcontext():
            return create(self, spec)

    def exec_module(self, module):
        execute(self, module)
        if _is_extension(self.path):
            adopt(module, torch)

    def load(path):
        is_extension = _is_extension(path)
        with own_symbols_first() if is_extension else contextlib.nullcontext():
            load_library(path)
        if is_extension:
            register_all(torch)

    loader.create_module, loader.exec_module, torch.ops.load_library = create_module, exec_module, load


def _on_cpu(value, torch):
    is_device = isinstance(value, (str, torch.device)) and str(value).partition(":")[0] == "cuda"
    return "cpu" if is_device else value


class _Stream:
    """The stream of all launches."""

    cuda_stream, device_index = 0, 0

    def __init__(self, device=None, priority=0):
        pass

    def synchronize(self):
        driver.synchronize()

    def query(self):
        return True

    def wait_stream(self, stream):
        pass

    wait_event = wait_stream

    def record_event(self, event=None):
        event = driver.Event() if event is None else event
        event.record(self)
        return event


class _Device(contextlib.nullcontext):
    """torch.cuda.device: there is one."""

    def __init__(self, device=None):
        super().__init__()


class _StreamContext(contextlib.nullcontext):
    """torch.cuda.stream."""


# Values that functions of torch.cuda return.
_RETURNED = (
    (True, ("is_available", "is_bf16_supported", "is_initialized")),
    (False, ("is_current_stream_capturing",)),
    (1, ("device_count",)),
    (0, ("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")),
    (None, ("init", "set_device", "set_stream", "manual_seed", "manual_seed_all", "empty_cache", "ipc_collect",
            "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_accumulated_memory_stats")),
)


def _returns(value):
    """A new function for each name: torch.compile knows functions by their identity."""
    return lambda *args, **named: value


def _replace_functions(cuda, torch):
    """The functions of torch.cuda that programs with kernels of their own call."""
    for value, names in _RETURNED:
        for name in names:
            setattr(cuda, name, _returns(value))
    for name in ("range_push", "range_pop", "mark"):
        setattr(cuda.nvtx, name, _returns(None))
    cuda.device, cuda.Event, cuda.Stream, cuda.stream = _Device, driver.Event, _Stream, _StreamContext
    cuda.device_of = type("device_of", (_Device,), {})
    cuda.current_stream = lambda device=None: _Stream()
    cuda.default_stream = lambda device=None: _Stream()
    cuda.get_device_capability = lambda device=None: driver.capability()
    cuda.get_device_properties = lambda device=None: driver.properties()
    cuda.get_device_name = lambda device=None: driver.properties().name
    cuda.get_arch_list = lambda: ["sm_" + "".join(map(str, driver.capability()))]
    cuda.mem_get_info = lambda device=None: (driver.properties().total_memory,) * 2
    cuda.synchronize = lambda device=None: driver.synchronize()
    cuda.initial_seed, cuda.seed = lambda: torch.initial_seed(), lambda: torch.seed()
    for module in (cuda, torch.cpu):  # torch.compile saves and restores the state of random numbers
        module.get_rng_state = lambda device=None: torch.get_rng_state()
        module.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
    if hasattr(torch, "accelerator"):  # whose streams torch.compile would take from NVIDIA's driver
        torch.accelerator.is_available = _returns(False)
        torch.accelerator.device_count, torch.accelerator.current_device_index = _returns(0), _returns(0)
        torch.accelerator.synchronize = lambda device=None: driver.synchronize()
    # PyTorch for NVIDIA's GPUs looks for one where it computes gradients.
    warnings.filterwarnings("ignore", message="CUDA initialization")


def prepare(torch):
    from torch.overrides import TorchFunctionMode

    data_ptr = torch.Tensor.data_ptr

    def registered_data_ptr(self):
        register(self)
        return data_ptr(self)

    torch.Tensor.data_ptr = registered_data_ptr

    class CudaIsCpu(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function is torch.Tensor.cuda:
                register(args[0])
                return args[0]
            if function is torch.Tensor.get_device:
                return 0
            if function == torch.Tensor.is_cuda.__get__:  # another object at each access
                return True
            args = tuple(_on_cpu(each, torch) for each in args)
            kwargs = {name: _on_cpu(each, torch) for name, each in (kwargs or {}).items()}
            return function(*args, **kwargs)

    CudaIsCpu().__enter__()
    _replace_functions(torch.cuda, torch)
    _adopt_imported_extensions(torch)
