"""The calls of libcuda.so.1 that the hooks need."""

import ctypes
import time
import types

_library = ctypes.CDLL("libcuda.so.1")
_PTX = 1  # CU_JIT_INPUT_PTX
_IO_MEMORY = 4  # CU_MEMHOSTREGISTER_…
_ALREADY_REGISTERED, _NOT_REGISTERED = 712, 713  # CUDA_ERROR_HOST_MEMORY_…
_CAPABILITY = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
# The properties that PyTorch has of a device, by CUdevice_attribute.
_PROPERTIES = {"major": 75, "minor": 76, "multi_processor_count": 16, "warp_size": 10, "max_threads_per_block": 1,
               "max_threads_per_multi_processor": 39, "regs_per_multiprocessor": 82, "shared_memory_per_block": 8,
               "shared_memory_per_block_optin": 97, "shared_memory_per_multiprocessor": 81, "L2_cache_size": 38}


def check(result):
    if result != 0:
        text = ctypes.c_char_p()
        _library.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"CUDA error {result}: {(text.value or b'unknown').decode()}")


def use_device(device=0):
    """Makes the device's primary context current."""
    context = ctypes.c_void_p()
    check(_library.cuInit(0))
    check(_library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(_library.cuCtxSetCurrent(context))


def _attribute(attribute, device):
    value = ctypes.c_int()
    check(_library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device))
    return value.value


def capability(device=0):
    use_device(device)
    return tuple(_attribute(each, device) for each in _CAPABILITY)


def properties(device=0):
    """A device's properties under PyTorch's names."""
    use_device(device)
    name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
    check(_library.cuDeviceGetName(name, len(name), device))
    check(_library.cuDeviceTotalMem_v2(ctypes.byref(memory), device))
    values = {each: _attribute(attribute, device) for each, attribute in _PROPERTIES.items()}
    return types.SimpleNamespace(name=name.value.decode(), total_memory=memory.value, **values)


class Event:
    """An event by the host's clock: a launch ends before its call returns."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self.seconds = 0.0

    def record(self, stream=None):
        self.seconds = time.perf_counter()

    def elapsed_time(self, end):
        return 1000 * (end.seconds - self.seconds)

    def synchronize(self):
        pass

    def query(self):
        return True


def synchronize():
    check(_library.cuCtxSynchronize())


def register(address, size):
    """Makes memory of a tensor accessible to kernels. Returns False if it is accessible already, by an extension's
    allocator or as a part of other memory.

    The host may access I/O memory at any time: PyTorch's functions on a tensor stand for work in its stream's order.
    """
    result = _library.cuMemHostRegister_v2(ctypes.c_void_p(address), ctypes.c_size_t(size), _IO_MEMORY)
    if result == _ALREADY_REGISTERED:
        return False
    check(result)
    return True


def unregister(address):
    result = _library.cuMemHostUnregister(ctypes.c_void_p(address))
    if result != _NOT_REGISTERED:  # an extension's allocator has freed it
        check(result)


def link(codes):
    """Several texts of PTX as one."""
    state, linked, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    check(_library.cuLinkCreate_v2(0, None, None, ctypes.byref(state)))
    try:
        for code in codes:
            code = code + b"\0"
            check(_library.cuLinkAddData_v2(state, _PTX, code, ctypes.c_size_t(len(code)), b"ptx", 0, None, None))
        check(_library.cuLinkComplete(state, ctypes.byref(linked), ctypes.byref(size)))
        return ctypes.string_at(linked, size.value).rstrip(b"\0")
    finally:
        _library.cuLinkDestroy(state)
