"""PyTorch's tensors of the CPU for kernels of the virtual GPU; the device "cuda" is the CPU.

PyTorch's own kernels for NVIDIA's GPUs do not run: their runtime asks for what only NVIDIA's driver has.
"""

from . import driver

_registered = {}  # bytes of each storage that the virtual GPU knows, by address


def register(tensor):
    """Makes a tensor's whole storage accessible to kernels, and nothing beyond it."""
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


def prepare(torch):
    from torch.overrides import TorchFunctionMode

    data_ptr = torch.Tensor.data_ptr

    def registered_data_ptr(self):
        if self.device.type == "cpu":
            register(self)
        return data_ptr(self)

    torch.Tensor.data_ptr = registered_data_ptr

    class CudaIsCpu(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function is torch.Tensor.cuda:
                return args[0]
            if function is torch.Tensor.is_cuda.__get__:
                return True
            args = tuple(_on_cpu(each, torch) for each in args)
            kwargs = {name: _on_cpu(each, torch) for name, each in (kwargs or {}).items()}
            return function(*args, **kwargs)

    CudaIsCpu().__enter__()
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda device=None: driver.capability()
    torch.cuda.synchronize = lambda device=None: driver.synchronize()
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = lambda seed: None
