"""Rung: matrix products and dot products on CPUs and NVIDIA GPUs.

>>> import numpy, rung
>>> rung.matmul(numpy.ones((2, 3), numpy.float32), numpy.ones((3, 2), numpy.float32))
array([[3., 3.],
       [3., 3.]], dtype=float32)

`rung.torch` provides these as PyTorch operators, with autograd and torch.compile, and `rung.jax` as
JAX functions. Importing this module starts no thread and does not load the CUDA driver.
"""

import copyreg

from ._bench import bench
from ._core import (DeviceError, PackedWeights, UnavailableError, __version__, block_scaled_matmul, dot,
                    get_num_threads, grouped_matmul, matmul, pack_weights, set_num_threads, weight_only_matmul)
from ._devices import Device, devices
from ._epilogue import Epilogue

copyreg.pickle(type(matmul), lambda function: function.__name__)  # pickled as its qualified name

__all__ = ["Device", "DeviceError", "Epilogue", "PackedWeights", "UnavailableError", "bench", "block_scaled_matmul",
           "devices", "dot", "get_num_threads", "grouped_matmul", "matmul", "pack_weights", "set_num_threads",
           "weight_only_matmul"]
