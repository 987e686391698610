"""rung.cupy: arrays and kernels with the interface of CuPy."""

import doctest

import numpy as np
import pytest

import rung
from kernel_texts import needs_clang

pytestmark = needs_clang


def test_kernels_of_cupy():
    import rung.cupy as cp

    assert doctest.testmod(cp).failed == 0
    module = cp.RawModule(code="""
    template <class T> __global__ void fill(T* x, T value) { x[threadIdx.x + blockIdx.x * blockDim.x] = value * SCALE; }
    """, options=("-DSCALE=2", "--use_fast_math", "--std=c++17"), name_expressions=["fill<double>"])
    x = np.zeros(8)
    module.get_function("fill<double>")((2,), (4,), (x, 1.5))
    assert np.array_equal(x, np.full(8, 3.0))
    with pytest.raises(rung.Hazard):
        module.get_function("fill<double>")((3,), (4,), (x, 1.5))


def test_kernels_that_cupy_makes_of_expressions():
    import rung.cupy as cp

    x, y = cp.arange(10, dtype=np.float32).reshape(2, 5), cp.arange(5, dtype=np.float32)
    squares = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squares")
    assert np.array_equal(squares(x, y), (x - y) ** 2) and squares(x[:, ::2], 3).shape == (2, 3)
    out = np.empty((5, 2), np.float32).T
    assert squares(x, y, out) is out and np.array_equal(out, (x - y) ** 2)
    reverse = cp.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "reverse")
    assert np.array_equal(reverse(y, y), y + y[::-1])
    counts = np.zeros(3, np.int32)
    cp.ElementwiseKernel("S x", "raw int32 counts", "atomicAdd(&counts[(int)x], 1)")(np.array([0.5, 2.5, 0.1]), counts)
    assert list(counts) == [2, 0, 1]
    doubled = cp.ElementwiseKernel("raw T x, int32 m", "T z", "int at[] = {(int)(i / m), (int)(i % m)}; z = 2 * x[at]")
    assert np.array_equal(doubled(x, 5, size=10), 2 * x.ravel())
    z = np.array([1 + 2j, 3 - 1j], np.complex64)
    turned = cp.ElementwiseKernel("complex64 z", "complex64 w", "w = exp(z) / complex<float>(0, 1)")
    assert np.allclose(turned(z), np.exp(z) / 1j, rtol=1e-5)
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    assert np.allclose(norm(x, axis=1), np.linalg.norm(x, axis=1)) and norm(x, axis=0, keepdims=True).shape == (1, 5)
    assert cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "")(np.arange(1000) - 2000) == -1001
    with pytest.raises(TypeError, match="T is float32 and, by y, float64"):
        squares(x, np.zeros(5))
    with pytest.raises(rung.Hazard, match="nothing has been written"):
        cp.ElementwiseKernel("T x", "T y", "y += x")(y)


def test_arguments_of_cupys_kernels():
    """CuPy passes addresses: of arrays in the order of columns, of unsigned numbers for signed ones, and by data.ptr."""
    import rung.cupy as cp

    scale = cp.RawKernel("""extern "C" __global__ void scale(const int* x, unsigned* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = 2 * x[i];
    }""", "scale")
    x = cp.asfortranarray(cp.arange(12, dtype=cp.uint32).reshape(3, 4))
    y = cp.zeros((3, 4), dtype=cp.int32, order="F")
    scale((1,), (32,), (x, y, x.size), stream=cp.cuda.Stream())
    assert (y == 2 * x).all() and isinstance(y, cp.ndarray)
    y[...] = 0
    scale((1,), (32,), (x.data.ptr, y.data.ptr, x.size))
    assert np.array_equal(y.get(), 2 * x.get())
    with pytest.raises(TypeError, match="expected dtype int32, got float32"):
        scale((1,), (32,), (x.astype(cp.float32), y, 12))
    with pytest.raises(ValueError, match="not C-contiguous"):
        scale((1,), (32,), (x[:, ::2], y, 6))


def test_arrays_of_cupy():
    import rung.cupy as cp

    x = cp.random.rand(5, 3, dtype=cp.float32)
    assert isinstance(x, cp.ndarray) and x.dtype == np.float32
    total = x.sum()
    assert isinstance(total, cp.ndarray) and total.shape == () and type(total.get()) is np.ndarray
    assert isinstance(x[0, 0], cp.ndarray) and isinstance(cp.linalg.norm(x), cp.ndarray) and isinstance(x + 1, cp.ndarray)
    assert cp.get_array_module(x) is cp and cp.get_array_module(x.get()) is np and type(cp.asnumpy(x)) is np.ndarray
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with cp.cuda.Device(0), cp.cuda.Stream() as stream:
        start.record(stream)
        end.record()
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    with pytest.raises(AttributeError, match="'RawKernels' is none of these"):
        cp.RawKernels
