"""PyTorch's tensors of the CPU for kernels of the virtual GPU; the device "cuda" is the CPU.

PyTorch's own kernels for NVIDIA's GPUs do not run: their runtime asks for what only NVIDIA's driver has.
"""

import contextlib
import warnings

from . import driver

_registered = {}  # bytes of each storage that the virtual GPU knows, by address


def register(tensor):
    """Makes the whole storage of a tensor of the CPU accessible to kernels, and nothing beyond it."""
    if tensor.device.type != "cpu":
        return
    storage = tensor.untyped_storage()
    address, size = storage.data_ptr(), storage.nbytes()
    if size == 0 or _registered.get(address) == size:
        return
    if not _registered:
        driver.use_device()
    # A storage that overlaps has been freed since.
    for other, bytes_of in list(_registered.items()):
        if other < address + size and address < other + bytes_of:
            driver.unregister(other)
            del _registered[other]
    driver.register(address, size)
    _registered[address] = size


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

    def wait_stream(self, stream):
        pass

    wait_event = record_event = wait_stream


class _Device(contextlib.nullcontext):
    """torch.cuda.device: there is one."""

    def __init__(self, device=None):
        super().__init__()


def _replace_functions(cuda):
    """The functions of torch.cuda that programs with kernels of their own call."""
    cuda.is_available = cuda.is_bf16_supported = lambda *args, **named: True
    cuda.device_count, cuda.current_device = lambda: 1, lambda: 0
    cuda.device, cuda.Event, cuda.Stream, cuda.stream = _Device, driver.Event, _Stream, contextlib.nullcontext
    cuda.current_stream = cuda.default_stream = lambda device=None: _Stream()
    cuda.get_device_capability = lambda device=None: driver.capability()
    cuda.get_device_properties = lambda device=None: driver.properties()
    cuda.get_device_name = lambda device=None: driver.properties().name
    cuda.synchronize = lambda device=None: driver.synchronize()
    cuda.manual_seed = cuda.manual_seed_all = cuda.set_device = lambda seed: None
    cuda.empty_cache = cuda.reset_peak_memory_stats = lambda device=None: None
    cuda.memory_allocated = cuda.max_memory_allocated = lambda device=None: 0
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
                return args[0]
            if function == torch.Tensor.is_cuda.__get__:  # another object at each access
                return True
            args = tuple(_on_cpu(each, torch) for each in args)
            kwargs = {name: _on_cpu(each, torch) for name, each in (kwargs or {}).items()}
            return function(*args, **kwargs)

    CudaIsCpu().__enter__()
    _replace_functions(torch.cuda)
