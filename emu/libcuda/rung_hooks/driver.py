"""The calls of libcuda.so.1 that the hooks need."""

import ctypes

_library = ctypes.CDLL("libcuda.so.1")
_PTX = 1  # CU_JIT_INPUT_PTX
_IO_MEMORY = 4  # CU_MEMHOSTREGISTER_…
_ALREADY_REGISTERED, _NOT_REGISTERED = 712, 713  # CUDA_ERROR_HOST_MEMORY_…
_CAPABILITY = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR


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


def capability(device=0):
    values = ctypes.c_int(), ctypes.c_int()
    for value, attribute in zip(values, _CAPABILITY):
        check(_library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device))
    return tuple(value.value for value in values)


def synchronize():
    check(_library.cuCtxSynchronize())


def register(address, size):
    """Makes memory of a tensor accessible to kernels; what an extension's allocator has registered stays as it is.

    The host may access I/O memory at any time: PyTorch's functions on a tensor stand for work in its stream's order.
    """
    result = _library.cuMemHostRegister_v2(ctypes.c_void_p(address), ctypes.c_size_t(size), _IO_MEMORY)
    if result != _ALREADY_REGISTERED:
        check(result)


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
