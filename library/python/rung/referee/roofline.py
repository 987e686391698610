"""The least time that a GPU can take: memory traffic and arithmetic at their peaks."""

import numpy as np

from .distributions import numpy_dtype

# Bytes a second, and operations a second by type, of NVIDIA's data sheets, dense and with tensor cores where a type has
# them. f32 without TF32 runs on CUDA cores.
_PEAKS = {
    "h200": (4.8e12, {"float32": 67e12, "tf32": 494e12, "float16": 989e12, "bfloat16": 989e12, "float64": 67e12}),
    "h100": (3.35e12, {"float32": 67e12, "tf32": 494e12, "float16": 989e12, "bfloat16": 989e12, "float64": 67e12}),
    "a100": (2.04e12, {"float32": 19.5e12, "tf32": 156e12, "float16": 312e12, "bfloat16": 312e12, "float64": 19.5e12}),
    "l40s": (0.864e12, {"float32": 91.6e12, "tf32": 183e12, "float16": 362e12, "bfloat16": 362e12, "float64": 1.43e12}),
    "t4": (0.32e12, {"float32": 8.1e12, "float16": 65e12, "float64": 0.25e12}),
}
GPUS = tuple(_PEAKS)
# Bytes of caches, which may hold the arrays from one call to the next.
_CACHES = {"h200": 60e6, "h100": 50e6, "a100": 40e6, "l40s": 96e6, "t4": 4e6}
_CACHE_RATE = 6  # of the rate of memory


def floor_seconds(task, sizes, gpu):
    """(seconds, the reason in words), or (None, "") for a GPU without peaks.

    Arrays that fit the GPU's L2 are granted its rate, since repeated calls find them there.
    """
    name = gpu.partition(",")[0]
    if name not in _PEAKS:
        return None, ""
    rate, peaks = _PEAKS[name]
    size = sum(int(np.prod(task.shape_of(array, sizes))) * numpy_dtype(array.dtype).itemsize for array in task.arrays)
    memory = size / (rate * (_CACHE_RATE if size < _CACHES[name] else 1))
    peak = peaks.get("tf32" if task.tf32 and task.dtype == "float32" else task.dtype)
    arithmetic = task.work(sizes) / peak if peak and task.operation.is_linear else 0.0
    if arithmetic > memory:
        return arithmetic, f"{task.work(sizes)} operations at {peak / 1e12:g} Tera a second"
    return memory, f"{size} bytes at {size / memory / 1e12:.3g} TB/s"
