"""rung.devices()"""

from collections import namedtuple  # importing typing would double the time of `import rung`

# ctypes and platform are imported inside the functions that use them, for the same reason.


class Device(namedtuple("Device", "kind index name processors memory capability", defaults=(None, None))):
    """A device that rung.matmul can use.

    Attributes
    ----------
    kind : {'cpu', 'cuda'}
    index : int
        The ordinal of the GPU; 0 for the CPU.
    name : str
        The name of the model.
    processors : int
        The number of logical CPUs in the process's affinity mask, or of streaming multiprocessors.
    memory : int or None
        The GPU's memory in bytes; None for the CPU.
    capability : tuple of int or None
        The GPU's compute capability, (major, minor); None for the CPU.
    """

    __slots__ = ()


# Values of CUdevice_attribute.
_MULTIPROCESSORS, _MAJOR, _MINOR = 16, 75, 76


def _cpu():
    import os
    import platform

    name = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        name = names[0] if names else name
    except OSError:
        pass
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Device("cpu", 0, name, usable)


def _gpu(driver, index):
    import ctypes

    device = ctypes.c_int()
    if driver.cuDeviceGet(ctypes.byref(device), index) != 0:
        return None
    name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
    driver.cuDeviceGetName(name, len(name), device)
    driver.cuDeviceTotalMem_v2(ctypes.byref(memory), device)

    def attribute(which):
        value = ctypes.c_int()
        driver.cuDeviceGetAttribute(ctypes.byref(value), which, device)
        return value.value

    return Device("cuda", index, name.value.decode(), attribute(_MULTIPROCESSORS), memory.value,
                  (attribute(_MAJOR), attribute(_MINOR)))


def devices():
    """The CPU and the NVIDIA GPUs of this machine.

    Loads the CUDA driver, if installed, but creates no context.

    Returns
    -------
    list of Device
        The CPU first.

    Examples
    --------
    >>> import rung
    >>> rung.devices()[0].kind
    'cpu'
    """
    import ctypes

    found = [_cpu()]
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return found
    count = ctypes.c_int()
    if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0:
        found += [gpu for index in range(count.value) if (gpu := _gpu(driver, index)) is not None]
    return found
