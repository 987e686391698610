"""CuPy's classes for kernels of CUDA C++."""

import os

import numpy

from .._kernel import Kernel
from ._arrays import Address

_KEPT_OPTIONS = ("-D", "-I", "-std=", "--std=")
_HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


def compiled(text, name, options, beside=None):
    """The rung.Kernel, with CuPy's own headers and without options of NVRTC alone."""
    kept = [each.replace("--std=", "-std=") for each in options if each.startswith(_KEPT_OPTIONS)]
    return Kernel(text, name, include=[_HEADERS], options=kept, beside=beside)


class RawKernel:
    """The interface of cupy.RawKernel. The first call compiles; each returns the rung.Run.

    Parameters
    ----------
    code : str or bytes
        CUDA C++.
    name : str
        The kernel, with its template arguments if it is a template.
    options : sequence of str
        For the compiler; others than -D, -I and -std= are for NVRTC, and left out.
    """

    def __init__(self, code, name, options=(), backend="nvrtc", translate_cucomplex=False, *, enable_cooperative_groups=False,
                 jitify=False):
        self.name = name
        self.code = code.decode() if isinstance(code, bytes) else code
        self.options = tuple(options)
        self.max_dynamic_shared_size_bytes = 0
        self._kernel, self._module = None, None

    @property
    def kernel(self):
        """The rung.Kernel, compiled when it is first asked for."""
        if self._kernel is None:
            module = self._module
            self._kernel = compiled(self.code, self.name, self.options, module and module._first)
            if module is not None and module._first is None:
                module._first = self._kernel
        return self._kernel

    def compile(self, log_stream=None):
        """Compiles the kernel if it is not compiled yet."""
        self.kernel

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        parameters = self.kernel._signature.parameters
        if len(args) == len(parameters):
            args = [_fitted(parameter, value) for parameter, value in zip(parameters, args)]
        return self.kernel(*args, grid=tuple(grid), block=tuple(block), shared=shared_mem)


def _fitted(parameter, value):
    """An argument as rung.Kernel takes it. CuPy gives a kernel an array's address, whatever its strides and signedness."""
    if isinstance(value, Address):
        value = value.array
    if not isinstance(value, numpy.ndarray) or parameter.kind != "buffer":
        return value
    if not value.flags.c_contiguous:
        value = _memory_order(value)
    wanted = numpy.dtype(parameter.dtype) if parameter.dtype not in (None, "bfloat16") else value.dtype
    if value.dtype != wanted and value.dtype.kind in "iub" and wanted.kind in "iub" and value.itemsize == wanted.itemsize:
        value = value.view(wanted)
    return value


def _memory_order(array):
    """The array with its axes in the order of its memory, if that makes it contiguous."""
    axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    return array.transpose(axes)


class RawModule:
    """The interface of cupy.RawModule for `code`, or the `path` of a .cu or .ptx file."""

    def __init__(self, *, code=None, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
                 enable_cooperative_groups=False, name_expressions=None, jitify=False):
        if (code is None) == (path is None):
            raise TypeError("rung.cupy.RawModule: expected either code= or path=")
        self._source = code if path is None else path
        self._options = options
        self._first = None  # the rung.Kernel whose variables the others share

    def get_function(self, name):
        kernel = RawKernel(self._source, name, self._options)
        kernel._module = self
        return kernel
