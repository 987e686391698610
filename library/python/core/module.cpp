// rung._core: the functions of the package that are implemented in C++.

#include <nanobind/nanobind.h>

#include <new>
#include <utility>

#include "builtin_functions.hpp"
#include "errors.hpp"
#include "matmul.hpp"
#include "weight_only.hpp"

namespace nb = nanobind;

namespace rung::python {

void fail_value(const std::string& message) { throw nb::value_error(("rung: " + message).c_str()); }

void fail_type(const std::string& message) { throw nb::type_error(("rung: " + message).c_str()); }

void check(rung_status status, const char* message) {
  switch (status) {
    case RUNG_OK: return;
    case RUNG_INVALID_ARGUMENT: throw nb::value_error(message);
    case RUNG_UNAVAILABLE: throw Unavailable(message);
    case RUNG_DEVICE_ERROR: throw DeviceFailure(message);
    case RUNG_OUT_OF_MEMORY: throw std::bad_alloc();
    default: throw std::runtime_error(message);
  }
}

}  // namespace rung::python

NB_MODULE(_core, m) {
  using namespace rung::python;
  nb::exception<Unavailable>(m, "UnavailableError", PyExc_RuntimeError).doc() =
      "No GPU, no driver, or no kernel for these types on this device.";
  nb::exception<DeviceFailure>(m, "DeviceError", PyExc_RuntimeError).doc() =
      "The GPU's driver reported an error.";
  m.attr("__version__") = rung_version();

  m.def(
      "matmul",
      [](nb::handle a, nb::handle b, nb::handle out, double alpha, double beta, const char* math,
         int threads, nb::handle stream, nb::handle epilogue) {
        const MatmulOptions options = {alpha, beta, math, threads};
        return epilogue.is_none() ? matmul(a, b, out, stream, options)
                                  : matmul_with_epilogue(a, b, out, stream, options, epilogue);
      },
      nb::arg("a"), nb::arg("b"), nb::kw_only(), nb::arg("out").none() = nb::none(),
      nb::arg("alpha") = 1.0, nb::arg("beta") = 0.0, nb::arg("math") = "ieee",
      nb::arg("threads") = 0, nb::arg("stream").none() = nb::none(),
      nb::arg("epilogue").none() = nb::none(),
      nb::sig("def matmul(a: object, b: object, *, out: object = None, alpha: float = 1, "
              "beta: float = 0, math: str = 'ieee', threads: int = 0, "
              "stream: object = None, epilogue: object = None) -> object"),
      R"(out = alpha * (a @ b) + beta * out

Arrays may be of any library with DLPack or the buffer protocol (NumPy, PyTorch, CuPy, ml_dtypes), on
the CPU or on an NVIDIA GPU. The call releases the GIL. On a GPU it enqueues its work and returns.

Parameters
----------
a : array of shape (..., m, k), or (k,)
b : array of shape (..., k, n), or (k,), of the same dtype and on the same device
    The leading extents, the batch, are broadcast as in numpy.matmul; each product of a batch is one
    call of the library. A matrix whose strides the library cannot take is copied first: one of its
    last two strides must be 1, and the other at least the extent that it steps over.
out : array of shape (..., m, n), optional
    Written in place and returned. If beta is 0 it is not read. It must not overlap itself. On the
    CPU it may overlap every operand, which is then copied.
alpha, beta : float
    Scales; for integers whole numbers of 32 bits.
math : {'ieee', 'split', 'reproducible', 'batch_invariant', 'tf32'}
    'split' may compute large products of float32 on tensor cores (GPUs of sm_90), as three products
    of float16 halves, with an error bound at most that of 'ieee'; others it computes as 'ieee' does.
    'reproducible' gives float32 and integers the same bits on every CPU and GPU (of sm_90), for any
    batch, layout and number of threads.
    'batch_invariant' gives a row of the result the same bits whatever the other rows and their number are.
    'tf32' rounds float32 elements to 11 significant bits, for tensor cores (GPUs from sm_80 on).
threads : int
    The most CPU threads to use; 0: as set_num_threads says.
stream : optional
    The CUDA stream to launch into: a handle as an int, or a stream object of PyTorch or CuPy. By
    default the current stream of the library that a comes from.
epilogue : rung.Epilogue, optional
    What becomes of each element before it is stored: bias, activation and so on. a and b are then matrices;
    out may have any dtype (float64 for float64), and is float32 if it is not given.

Returns
-------
out, or a new array of the library of a (of NumPy for every a with the buffer protocol, such as ctypes
and arrays of JAX on the CPU): float32 for float32, bfloat16, float16, float8_e4m3fn and float8_e5m2;
float64 for float64; int32 for int32 and int8. Sums have this type, too. out may also be bfloat16 for
bfloat16 and float16 for float16, rounded once.

Raises
------
TypeError
    If an argument is no array, or more than its memory (masked, a lazy negation, requires grad), a
    dtype is not supported, or dtypes differ.
ValueError
    If shapes or devices do not match, or out is read-only.
rung.UnavailableError
    If the device has no kernel for the types: among GPUs, 8-bit floats need sm_90.
rung.DeviceError
    If the GPU's driver reports an error.

Examples
--------
>>> import numpy, rung
>>> a = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
>>> rung.matmul(a, a.T)
array([[ 5., 14.],
       [14., 50.]], dtype=float32)
)");

  // The product that rung.torch uses under its own autograd. rounds: a new array has a's dtype.
  // addend: a tensor that initializes a new array.
  m.def(
      "_matmul_of_tensors",
      [](nb::handle a, nb::handle b, nb::handle out, double alpha, double beta, const char* math,
         bool rounds, nb::handle addend) {
        return matmul(
            a, b, out, nb::none(),
            {alpha, beta, math, 0, true, rounds, addend.is_none() ? nb::handle() : addend});
      },
      nb::arg("a"), nb::arg("b"), nb::arg("out").none(), nb::arg("alpha"), nb::arg("beta"),
      nb::arg("math"), nb::arg("rounds"), nb::arg("addend").none() = nb::none());
  m.def("_product_on_cpu", product_on_cpu, nb::arg("a"), nb::arg("b"), nb::arg("dims"),
        nb::arg("addend").none() = nb::none(), nb::arg("beta") = 0.0, nb::arg("alpha") = 1.0);
  m.def("_rounded_matmul", rounded_matmul, nb::arg("a"), nb::arg("b"), nb::arg("bias").none(),
        nb::arg("alpha"), nb::arg("out").none() = nb::none());

  m.def(
      "grouped_matmul",
      [](nb::handle a, nb::handle b, nb::handle offsets, nb::handle out, double alpha, double beta,
         const char* math, int threads, nb::handle stream) {
        return grouped_matmul(a, b, offsets, out, stream, {alpha, beta, math, threads});
      },
      nb::arg("a"), nb::arg("b"), nb::arg("offsets"), nb::kw_only(),
      nb::arg("out").none() = nb::none(), nb::arg("alpha") = 1.0, nb::arg("beta") = 0.0,
      nb::arg("math") = "ieee", nb::arg("threads") = 0, nb::arg("stream").none() = nb::none(),
      nb::sig("def grouped_matmul(a: object, b: object, offsets: object, *, out: object = None, "
              "alpha: float = 1, beta: float = 0, math: str = 'ieee', threads: int = 0, "
              "stream: object = None) -> object"),
      R"(Products of groups of rows: out[s:e] = alpha * (a[s:e] @ b[g]) + beta * out[s:e], from s = offsets[g]
to e = offsets[g + 1]. Or, with b of two dimensions, of groups of what is summed over:
out[g] = alpha * (a[:, s:e] @ b[s:e]) + beta * out[g].

On GPUs, groups are one launch: those of 8-bit elements on sm_90, all others from sm_80 on. Groups without a
kernel are one call each.

Parameters
----------
a : array of shape (rows, k), the rows of all groups, one group after the other; or (m, k)
b : array of shape (groups, k, n); or (k, n), of the same dtype and on the same device
offsets : sequence or array of groups + 1 integers
    From 0 to the number of rows, or to k, in ascending order; a group may be empty. An array on the GPU of
    a and b is read there by that one launch, without waiting for it; if its values are wrong, what out has
    is undefined. Other groups wait for it.
out : array of shape (rows, n), or (groups, m, n), optional
    Written in place and returned. If beta is 0 it is not read.
alpha, beta, math, threads, stream
    As for matmul.

Returns
-------
out, or a new array of the library of a, of the dtype that matmul has.

Raises
------
ValueError
    If the offsets do not fit, and as matmul does.

Examples
--------
>>> import numpy, rung
>>> a, b = numpy.ones((3, 2), "float32"), numpy.array([[[1], [1]], [[5], [5]]], "float32")
>>> rung.grouped_matmul(a, b, [0, 2, 3])
array([[ 2.],
       [ 2.],
       [10.]], dtype=float32)
)");

  m.def(
      "block_scaled_matmul",
      [](nb::handle a, nb::handle a_scales, nb::handle b, nb::handle b_scales, nb::handle offsets,
         nb::handle out, double alpha, double beta, const char* math, int threads,
         nb::handle stream) {
        return block_scaled_matmul(a, a_scales, b, b_scales, offsets, out, stream,
                                   {alpha, beta, math, threads});
      },
      nb::arg("a"), nb::arg("a_scales"), nb::arg("b"), nb::arg("b_scales"), nb::kw_only(),
      nb::arg("offsets").none() = nb::none(), nb::arg("out").none() = nb::none(),
      nb::arg("alpha") = 1.0, nb::arg("beta") = 0.0, nb::arg("math") = "ieee",
      nb::arg("threads") = 0, nb::arg("stream").none() = nb::none(),
      nb::sig("def block_scaled_matmul(a: object, a_scales: object, b: object, b_scales: object, "
              "*, offsets: object = None, out: object = None, alpha: float = 1, beta: float = 0, "
              "math: str = 'ieee', threads: int = 0, stream: object = None) -> object"),
      R"(out = alpha * (A @ B) + beta * out, for 8-bit floats with a scale for each block:
A[i, l] = a[i, l] * a_scales[i, l // 128] and B[l, j] = b[l, j] * b_scales[l // 128, j // 128].

The library reads arrays as they are, in either order of rows and columns; it makes no copies of other strides.

Parameters
----------
a : array of shape (m, k), float8_e4m3fn
a_scales : array of shape (m, ceil(k / 128)), float32
b : array of shape (k, n), or (groups, k, n) with offsets, float8_e4m3fn
b_scales : array of shape (ceil(k / 128), ceil(n / 128)), or (groups, ...) of these, float32
offsets : sequence or array of groups + 1 integers, optional
    Groups of rows of a, as for grouped_matmul.
out : array of shape (m, n), float32 or bfloat16, optional
    Row-major. Written in place and returned. If beta is 0 it is not read.
alpha, beta, threads, stream
    As for matmul.
math : {'ieee', 'batch_invariant'}
    The same: the order of sums depends on k alone.

Returns
-------
out, or a new float32 array of the library of a.

Raises
------
As matmul does. On GPUs other than sm_90 rung.UnavailableError. On the CPU the product is a slow reference.

Examples
--------
>>> import numpy, ml_dtypes, rung
>>> a = numpy.ones((2, 256), ml_dtypes.float8_e4m3fn)
>>> a_scales = numpy.array([[1, 2], [3, 4]], "float32")
>>> rung.block_scaled_matmul(a, a_scales, a[:1].T, numpy.ones((2, 1), "float32"))
array([[384.],
       [896.]], dtype=float32)
)");

  nb::class_<PackedWeights>(m, "PackedWeights",
                            "Weights of 8 or 4 bits, packed by rung.pack_weights.")
      .def_prop_ro(
          "shape",
          [](const PackedWeights& w) { return nb::make_tuple(w.description.n, w.description.k); },
          nb::sig("def shape(self) -> tuple[int, int]"), "(n, k)")
      .def_prop_ro(
          "bits", [](const PackedWeights& w) { return w.description.bits; },
          nb::sig("def bits(self) -> int"), "8 or 4")
      .def_prop_ro(
          "group", [](const PackedWeights& w) { return w.description.group; },
          nb::sig("def group(self) -> int"), "Elements of a row that share a scale.")
      .def_prop_ro(
          "memory", [](const PackedWeights& w) { return w.memory; },
          nb::sig("def memory(self) -> object"),
          "The packed bytes, an array of the library of elements.")
      .def("__getstate__", state_of)
      .def("__setstate__", [](PackedWeights& self, nb::tuple state) {
        new (&self) PackedWeights(weights_of(std::move(state)));
      });

  m.def("pack_weights", pack_weights, nb::arg("elements"), nb::arg("scales"),
        nb::arg("zeros").none() = nb::none(), nb::kw_only(), nb::arg("bits") = 4,
        nb::arg("threads") = 0, nb::arg("stream").none() = nb::none(),
        nb::sig("def pack_weights(elements: object, scales: object, zeros: object = None, *, "
                "bits: int = 4, threads: int = 0, stream: object = None) -> PackedWeights"),
        R"(Pack quantized weights once, for many calls of weight_only_matmul:
W[j, l] = scales[j, l // group] * (elements[j, l] - zeros[j, l // group]).

Parameters
----------
elements : array of int8, row-major without gaps
    Of shape (n, k) for 8 bits. Of shape (n, k / 2) for 4 bits, two in a byte: that of the even column
    in the lower half. They are two's complement; with zeros, 0 to 15.
scales : array of shape (n, k / group), float32, bfloat16 or float16
    group is 64 or 128.
zeros : array of the shape of scales, int8, optional
    Zero points from 0 to 15, for 4 bits.
bits : {4, 8}
threads, stream
    As for matmul.

Returns
-------
rung.PackedWeights, on the device of elements.

Raises
------
ValueError, TypeError
    With what is wrong, the value and what is allowed.
)");

  m.def(
      "weight_only_matmul",
      [](nb::handle a, const PackedWeights& weights, nb::handle out, double alpha, double beta,
         int threads, nb::handle stream) {
        return weight_only_matmul(a, weights, out, stream, {alpha, beta, "ieee", threads});
      },
      nb::arg("a"), nb::arg("weights"), nb::kw_only(), nb::arg("out").none() = nb::none(),
      nb::arg("alpha") = 1.0, nb::arg("beta") = 0.0, nb::arg("threads") = 0,
      nb::arg("stream").none() = nb::none(),
      nb::sig(
          "def weight_only_matmul(a: object, weights: PackedWeights, *, out: object = None, "
          "alpha: float = 1, beta: float = 0, threads: int = 0, stream: object = None) -> object"),
      R"(out = alpha * (a @ W.T) + beta * out, for weights that pack_weights has packed.

Parameters
----------
a : array of shape (m, k), bfloat16 or float16
weights : rung.PackedWeights of shape (n, k)
out : array of shape (m, n), of the dtype of a or float32, optional
    Written in place and returned. If beta is 0 it is not read.
alpha, beta, threads, stream
    As for matmul.

Returns
-------
out, or a new array of the library and dtype of a.

Raises
------
As matmul does. On GPUs before sm_80 rung.UnavailableError.

Examples
--------
>>> import numpy, rung
>>> packed = rung.pack_weights(numpy.full((2, 64), 0x21, "int8"), numpy.array([[1], [2]], "float32"))
>>> rung.weight_only_matmul(numpy.ones((1, 128), "float16"), packed)
array([[192., 384.]], dtype=float16)
)");

  m.def("dot", dot, nb::arg("x"), nb::arg("y"), nb::kw_only(), nb::arg("mode") = "deterministic",
        nb::arg("out").none() = nb::none(), nb::arg("threads") = 0,
        nb::arg("stream").none() = nb::none(),
        nb::sig("def dot(x: object, y: object, *, mode: str = 'deterministic', "
                "out: object = None, threads: int = 0, stream: object = None) -> object"),
        R"(The sum of x[i] * y[i].

Parameters
----------
x, y : arrays of shape (n,), of the same dtype, float32, float64, bfloat16 or float16
    Any strides.
mode : {'fast', 'deterministic', 'compensated', 'reproducible'}
    'deterministic': the same bits from call to call on one device. 'compensated': as accurate as if
    summed in twice the precision. 'reproducible': the exact sum, rounded once; the same bits on every
    CPU and GPU.
out : array of one element, optional
    Where the result goes, float64 for float64 and float32 otherwise. On a GPU the call then returns
    without waiting.
threads, stream
    As for matmul.

Returns
-------
out, or the sum as a float; on a GPU this waits for the stream.

Raises
------
As matmul does.

Examples
--------
>>> import numpy, rung
>>> x = numpy.array([1e17, 1, -1e17])
>>> rung.dot(x, numpy.ones(3), mode="reproducible")
1.0
)");

  m.def(
      "set_num_threads",
      [](int threads) { check(rung_set_num_threads(threads), rung_last_error()); },
      nb::arg("threads"), nb::sig("def set_num_threads(threads: int) -> None"),
      R"(Limit the CPU threads of all calls in this process that do not set threads themselves.

Parameters
----------
threads : int
    The most threads of a call, never more than the processors that it may run on. 0 restores the limit
    of the environment: RUNG_NUM_THREADS, or else the first number of OMP_NUM_THREADS, read at the first
    call; without these, the processors.

Raises
------
ValueError
    If threads is negative.
)");
  m.def("get_num_threads", rung_get_num_threads, nb::sig("def get_num_threads() -> int"),
        "The limit of threads, or, without one, the processors that this thread may run on.");
  make_builtin_functions(m);
}
