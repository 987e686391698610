#pragma once
// Matrix products with an epilogue: what is done to each element before it is stored.

#include <cstdint>
#include <type_traits>

#include "rung/cuda.hpp"
#include "rung/epilogue_kinds.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

namespace detail {

template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, float>) {
    return ElementType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::f64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return ElementType::i32;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return ElementType::bf16;
  } else if constexpr (std::is_same_v<T, float16>) {
    return ElementType::f16;
  } else if constexpr (std::is_same_v<T, tfloat32>) {
    return ElementType::tf32;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return ElementType::i8;
  } else if constexpr (std::is_same_v<T, float8_e4m3>) {
    return ElementType::e4m3;
  } else {
    static_assert(std::is_same_v<T, float8_e5m2>, "Rung has no such element type");
    return ElementType::e5m2;
  }
}

}  // namespace detail

/// A matrix whose element type is known at run time: any MatrixView converts to it. Without data, an
/// epilogue has no such part.
template <class Pointer>
struct AnyMatrixView {
  Pointer data = nullptr;
  ElementType type = ElementType::f32;
  std::int64_t rows = 0, cols = 0, ld = 0;  // as in MatrixView
  Order order = Order::row_major;

  AnyMatrixView() = default;
  AnyMatrixView(Pointer elements, ElementType element_type, std::int64_t row_count,
                std::int64_t col_count, std::int64_t leading, Order stored = Order::row_major)
      : data(elements),
        type(element_type),
        rows(row_count),
        cols(col_count),
        ld(leading),
        order(stored) {}
  template <class T>
  AnyMatrixView(const MatrixView<T>& view)
      : AnyMatrixView(view.data, detail::element_type_of<std::remove_const_t<T>>(), view.rows,
                      view.cols, view.ld, view.order) {}
};
using InputMatrix = AnyMatrixView<const void*>;
using OutputMatrix = AnyMatrixView<void*>;

/// `count` contiguous elements. Without data, an epilogue has no such part.
struct InputVector {
  const void* data = nullptr;
  ElementType type = ElementType::f32;
  std::int64_t count = 0;

  InputVector() = default;
  InputVector(const void* elements, ElementType element_type, std::int64_t element_count)
      : data(elements), type(element_type), count(element_count) {}
  template <class T>
    requires(!std::is_void_v<T>)
  InputVector(const T* elements, std::int64_t element_count)
      : InputVector(elements, detail::element_type_of<T>(), element_count) {}
};

/// What becomes of each sum s of an m x n product before it is stored in C, in this order. A part that
/// is not given is left out. t, u and v have the type of the sums: double for double, otherwise float,
/// to which the int32 sums of integers are rounded.
///
///   1. t = alpha * *scale_a * *scale_b * s
///   2. t = t * row_scale[row] * column_scale[column]
///   3. t = t + beta * C[row, column], the old element
///   4. t = t + row_bias[row] + column_bias[column]
///   5. aux[row, column] = t, rounded to its type: what the backward pass needs
///   6. u = activation(t); or, gated, u[row, j] = activation(t[row, 2 j]) * t[row, 2 j + 1]
///   7. v = u + residual[row, column]
///   8. *amax = the larger one of *amax and |v|; NaN if any v is NaN
///   9. C[row, column] = result_factor * *result_scale * v, rounded to nearest, ties to even, to the
///      type of C. int32, int8, e4m3 and e5m2 saturate: what is beyond the largest number of the type,
///      infinity included, becomes that. NaN becomes 0 in integers.
///
/// All pointers are of the device that computes, those of scales and amax too. Set the fields by name,
/// as in {.column_bias = {bias, n}, .activation = Activation::relu}.
struct Epilogue {
  /// One for each row of the product, m; or for each column, n. float, or double for products of
  /// double.
  InputVector row_scale = {}, column_scale = {};
  /// The same; also bfloat16 and float16.
  InputVector row_bias = {}, column_bias = {};
  Activation activation = Activation::none;
  /// Columns 2 j and 2 j + 1 of the product, the gate and the value, make column j of C, which has n / 2
  /// columns. With silu: SwiGLU of Shazeer, "GLU variants improve transformer", arXiv:2002.05202,
  /// section 2. beta must be 0.
  bool gated = false;
  /// m x n. float, bfloat16 or float16; double for products of double.
  OutputMatrix aux = {};
  /// Of C's shape, and of the types of aux. It may be C itself, unless gated.
  InputMatrix residual = {};
  /// Scales of the tensors A, B and C, which the kernel reads. Scales that the host knows are factors of
  /// alpha, and result_factor.
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  const float* result_scale = nullptr;
  double result_factor = 1;
  /// Is raised to the largest magnitude of v: set it to 0 first.
  float* amax = nullptr;
};

/// C = epilogue(alpha * A * B + beta * C): a product as gemm() has it, and `epilogue` for each of its
/// elements.
///
/// - A and B have the same type, any that gemm() multiplies on the device. C may have any type
///   but tfloat32; for double it is double.
/// - gelu_tanh, gelu_erf and silu of x in float have |error| <= 2^-20 |x|; in double, 2^-48 |x|.
/// - If alpha == 0 or k == 0, A and B are not read, and their sums are 0. C is not read if beta == 0.
/// - If aux overlaps any other matrix, or C one that is not stored as C is, the result is undefined.
///
/// Throws what gemm() throws, and rung::Error (Status::invalid_argument), before writing anything, for
/// a part whose type or size does not fit or that another part excludes; the message names the part.
/// After std::bad_alloc, C, aux and *amax may hold anything.
RUNG_API void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                            const OutputMatrix& c, const Epilogue& epilogue,
                            const GemmOptions& options = {});

/// The same on the GPU, under the rules of gemm() in rung/cuda.hpp.
///
/// - 16-bit and 8-bit floats on GPUs of sm_90 are one launch where C, aux and residual are stored by
///   rows, or all by columns. Other products are stored in the workspace of the call first, in their
///   sums' type, and a second kernel does the rest: some rows at a time where it is too small for all.
/// - Products of double have no gelu_tanh, gelu_erf and silu there: Status::unavailable.
RUNG_API void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                            const OutputMatrix& c, const Epilogue& epilogue, CudaStream stream,
                            const CudaOptions& options = {});

}  // namespace rung
