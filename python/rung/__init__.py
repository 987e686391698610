"""Matrix products and dot products by Rung, on the CPU and on NVIDIA GPUs.

>>> import numpy, rung
>>> rung.matmul(numpy.ones((2, 3), numpy.float32), numpy.ones((3, 2), numpy.float32))
array([[3., 3.],
       [3., 3.]], dtype=float32)

`rung.torch` has the same for PyTorch with autograd and torch.compile, and `rung.jax` for JAX. Importing
this module starts no thread and opens no driver.
"""

from ._bench import bench
from ._core import (DeviceError, PackedWeights, UnavailableError, __version__, block_scaled_matmul, dot,
                    grouped_matmul, matmul, pack_weights, weight_only_matmul)
from ._devices import Device, devices
from ._epilogue import Epilogue

__all__ = ["Device", "DeviceError", "Epilogue", "PackedWeights", "UnavailableError", "bench", "block_scaled_matmul",
           "devices", "dot", "grouped_matmul", "matmul", "pack_weights", "weight_only_matmul"]
