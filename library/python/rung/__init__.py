"""Rung: matrix products and dot products on CPUs and NVIDIA GPUs.

>>> import numpy, rung
>>> rung.matmul(numpy.ones((2, 3), numpy.float32), numpy.ones((3, 2), numpy.float32))
array([[3., 3.],
       [3., 3.]], dtype=float32)

`rung.torch` provides these as PyTorch operators, with autograd and torch.compile, and `rung.jax` as
JAX functions. `rung.Kernel` runs CUDA and Metal kernels on arrays without a GPU. Importing this module starts no thread and does not load the CUDA driver.
"""

from ._bench import bench
from ._core import (DeviceError, PackedWeights, UnavailableError, __version__, block_scaled_matmul, dot,
                    get_num_threads, grouped_matmul, matmul, pack_weights, set_num_threads, weight_only_matmul)
from ._devices import Device, devices
from ._epilogue import Epilogue

_LATER = {"CompileError": "_kernel", "GpuRun": "_gpu", "Hazard": "_kernel", "Kernel": "_kernel", "Run": "_kernel",
          "budget": "pytest_plugin", "load_ipython_extension": "_notebook"}  # imported when they are used
_MODULES = ("cupy", "metal", "referee")  # also without an import of their own


__all__ = ["CompileError", "Device", "DeviceError", "Epilogue", "GpuRun", "Hazard", "Kernel", "PackedWeights", "Run",
           "UnavailableError", "bench", "block_scaled_matmul", "devices", "dot", "get_num_threads", "grouped_matmul",
           "matmul", "pack_weights", "set_num_threads", "weight_only_matmul"]


def __getattr__(name):
    import importlib
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name not in _LATER:
        raise AttributeError(f"module 'rung' has no attribute '{name}'")
    found = globals()[name] = getattr(importlib.import_module("." + _LATER[name], __name__), name)
    return found


def __dir__():
    return sorted({*globals(), *_LATER, *_MODULES})
