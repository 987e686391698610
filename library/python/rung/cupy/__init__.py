"""CuPy's interface on NumPy arrays and the virtual GPU: replace `import cupy` by `import rung.cupy`. Under `rung python`,
`import cupy` is this module.

`RawKernel`, `RawModule`, `ElementwiseKernel` and `ReductionKernel` run kernels. Every other function is NumPy's; its results are arrays that also have the
methods of CuPy's, such as `get()`.

>>> import rung.cupy as cp
>>> add = cp.RawKernel('''
... extern "C" __global__ void add(const float* x, const float* y, float* z) {
...   int i = blockDim.x * blockIdx.x + threadIdx.x;
...   z[i] = x[i] + y[i];
... }''', "add")
>>> x = cp.arange(4, dtype=cp.float32)
>>> z = cp.zeros_like(x)
>>> add((1,), (4,), (x, x, z)).hazards, z.get()
([], array([0., 2., 4., 6.], dtype=float32))
"""

import functools
import types

import numpy

from . import cuda
from ._arrays import Functions, RandomFunctions, ndarray, returned
from ._generated import ElementwiseKernel, ReductionKernel
from ._kernels import RawKernel, RawModule

__all__ = ["ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "asnumpy", "cuda", "get_array_module", "get_default_memory_pool",
           "get_default_pinned_memory_pool", "ndarray"]

fft, linalg, testing = Functions(numpy, "fft"), Functions(numpy, "linalg"), Functions(numpy, "testing")
random = RandomFunctions(numpy, "random")
get_default_memory_pool, get_default_pinned_memory_pool = cuda.MemoryPool, cuda.PinnedMemoryPool


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    """The values of an array as a NumPy array of its own."""
    copied = numpy.array(a, order=order)
    if out is None:
        return copied
    out[...] = copied
    return out


def get_array_module(*arrays):
    """This module if one of the arrays is its own, otherwise NumPy."""
    import sys
    return sys.modules[__name__] if any(isinstance(each, ndarray) for each in arrays) else numpy


def fuse(*args, **named):
    """A decorator that leaves a function as it is."""
    return args[0] if args and callable(args[0]) else lambda function: function


def memoize(for_each_device=False):
    """A decorator that keeps the results of a function."""
    return functools.cache


def __getattr__(name):
    if name.startswith("__") or isinstance(getattr(numpy, name, None), types.ModuleType):
        raise AttributeError(f"module 'rung.cupy' has no attribute '{name}'")
    try:
        found = returned(getattr(numpy, name))
    except AttributeError:
        raise AttributeError(f"rung.cupy has RawKernel, RawModule, ElementwiseKernel, ReductionKernel and NumPy's functions; '{name}' is none of these") from None
    globals()[name] = found
    return found
