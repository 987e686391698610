"""CuPy's classes for kernels of CUDA C++, on NumPy arrays and the virtual GPU: replace `cupy` by `rung.cupy`, and arrays
by those of NumPy.

>>> import numpy as np, rung.cupy
>>> add = rung.cupy.RawKernel('''
... extern "C" __global__ void add(const float* x, const float* y, float* z) {
...   int i = blockDim.x * blockIdx.x + threadIdx.x;
...   z[i] = x[i] + y[i];
... }''', "add")
>>> x, z = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
>>> add((1,), (4,), (x, x, z)).hazards, z
([], array([0., 2., 4., 6.], dtype=float32))
"""

from ._kernel import Kernel

__all__ = ["RawKernel", "RawModule"]


class RawKernel:
    """The interface of cupy.RawKernel. A call returns the rung.Run.

    Parameters
    ----------
    code : str
        CUDA C++.
    name : str
        The kernel, with its template arguments if it is a template.
    options : sequence of str
        For the compiler; others than -D, -I and -std= are for NVRTC, and left out.
    """

    def __init__(self, code, name, options=(), backend="nvrtc", translate_cucomplex=False, *, enable_cooperative_groups=False,
                 jitify=False):
        kept = [each for each in options if each.startswith(("-D", "-I", "-std=", "--std="))]
        self.name = name
        self.kernel = Kernel(code, name, options=[each.replace("--std=", "-std=") for each in kept])

    def __call__(self, grid, block, args, *, shared_mem=0):
        return self.kernel(*args, grid=grid, block=block, shared=shared_mem)


class RawModule:
    """The interface of cupy.RawModule for `code`, or the `path` of a .cu or .ptx file."""

    def __init__(self, *, code=None, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
                 enable_cooperative_groups=False, name_expressions=None, jitify=False):
        if (code is None) == (path is None):
            raise TypeError("rung.cupy.RawModule: expected either code= or path=")
        self._source = code if path is None else path
        self._options = options

    def get_function(self, name):
        return RawKernel(self._source, name, self._options)
