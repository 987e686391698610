#pragma once
// Matrix products with a fused epilogue: operations on each element before it is stored.

#include <cstdint>

#include "rung/any_matrix.hpp"
#include "rung/cuda.hpp"
#include "rung/epilogue_kinds.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// The operations on each sum s of an m x n product before it is stored in C, in this order.
/// Omitted operands are skipped. t, u and v are double for products of double and float otherwise;
/// int32 sums are rounded to float.
///
///   1. t = alpha * *scale_a * *scale_b * s
///   2. t = t * row_scale[row] * column_scale[column]
///   3. t = t + beta * C[row, column], the old element
///   4. t = t + row_bias[row] + column_bias[column]
///   5. aux[row, column] = t, rounded to its type, for the backward pass
///   6. u = activation(t); or, gated, u[row, j] = activation(t[row, 2 j]) * t[row, 2 j + 1]
///   7. v = u + residual[row, column]
///   8. *amax = max(*amax, |v|); NaN if any v is NaN
///   9. C[row, column] = result_factor * *result_scale * v, rounded to nearest, ties to even, to
///      the type of C. int32, int8, e4m3 and e5m2 saturate: values beyond the largest finite
///      number, including infinity, become that number. NaN becomes 0 in integers.
///
/// All pointers, including those to scales and amax, refer to memory of the device that computes.
/// Set fields by name, as in {.column_bias = {bias, n}, .activation = Activation::relu}.
struct Epilogue {
  /// m row scales and n column scales: float, or double for products of double.
  InputVector row_scale = {}, column_scale = {};
  /// m row biases and n column biases: float, bfloat16 or float16, or double for products of
  /// double.
  InputVector row_bias = {}, column_bias = {};
  Activation activation = Activation::none;
  /// If true, columns 2 j (gate) and 2 j + 1 (value) of the product form column j of C, which has n
  /// / 2 columns. With silu this is SwiGLU: Shazeer, "GLU variants improve transformer",
  /// arXiv:2002.05202, section 2. beta must be 0.
  bool gated = false;
  /// m x n, float, bfloat16 or float16; double for products of double.
  OutputMatrix aux = {};
  /// Same shape as C, any of the types of aux. May be C itself, with the same layout, unless gated.
  InputMatrix residual = {};
  /// Per-tensor scales of A, B and C, which the kernel reads from memory. If the host knows the
  /// scales, pass them as factors of alpha and as result_factor.
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  const float* result_scale = nullptr;
  double result_factor = 1;
  /// Receives the maximum of its old value and all |v|: initialize it to 0.
  float* amax = nullptr;
};

/// Computes C = epilogue(alpha * A * B + beta * C): a product as in gemm(), followed by `epilogue`
/// for each element.
///
/// - A and B have the same type, any that gemm() supports on the device. C may have any type but
///   tfloat32; for double it is double.
/// - gelu_tanh, gelu_erf and silu of x in float have |error| <= 2^-20 |x|; in double, 2^-48 |x|.
/// - If alpha == 0 or k == 0, A and B are not read, and their sums are 0. If beta == 0, C is not
///   read.
/// - C, aux and *amax must not overlap each other or any other operand, except that residual may be
///   C.
///
/// Throws what gemm() throws. Also throws rung::Error (Status::invalid_argument), before writing
/// anything, for an operand with the wrong type or size, for operands that exclude each other, and
/// for overlap with outputs; the message names the operand. std::bad_alloc leaves C, aux and *amax
/// unchanged.
RUNG_API void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                            const OutputMatrix& c, const Epilogue& epilogue,
                            const GemmOptions& options = {});

/// GPU version, with the rules of gemm() in rung/cuda.hpp.
///
/// - On sm_90, 16-bit and 8-bit float products take one launch if C, aux and residual are all
///   row-major or all column-major. Other products are first stored in the workspace in the type of
///   the sums, then a second kernel applies the epilogue. If the workspace is too small for all
///   rows, this is done for some rows at a time.
/// - Throws Status::unavailable for gelu_tanh, gelu_erf and silu of double.
RUNG_API void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                            const OutputMatrix& c, const Epilogue& epilogue, CudaStream stream,
                            const CudaOptions& options = {});

}  // namespace rung
