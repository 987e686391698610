#pragma once
// Matrix multiplication.

#include <cstdint>

#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// C = alpha * A * B + beta * C, where A is m x k, B is k x n and C is m x n, each row-major or
/// column-major. Pass transposed(a) for an operand that is to be transposed.
///
/// - Sums are accumulated in the type of C. Their order may change with the machine, the shape and
///   the number of threads. int32 arithmetic wraps in two's complement, and is exact modulo 2^32;
///   so are the sums of int8 products.
/// - Subnormal bfloat16 may count as 0, and so may subnormal sums of their products: the
///   instructions of some CPUs do so.
/// - If beta == 0, C is overwritten without being read. If alpha == 0 or k == 0, C becomes beta *
///   C, and A and B are not read. Otherwise NaN and infinities propagate as in IEEE 754.
/// - m, n and k may be 0.
/// - If C overlaps A or B, or two elements of C share a place in memory, the result is undefined.
/// - Views are passed by reference for speed alone; the call keeps none of them.
/// - May be called from several threads at once, and until the last instruction of the process:
///   from static and thread_local destructors, too. Returns when C is complete.
/// - Needs at most 64 KiB of stack.
///
/// Throws rung::Error (Status::invalid_argument), before writing anything, if a size is negative,
/// the shapes do not match, a leading dimension is too small, a pointer is null where there is work
/// to do, a matrix takes more than 2^63 - 1 bytes, options.threads is negative, or
/// options.compute_mode is unknown; std::bad_alloc if there is no memory for packed operands, which
/// leaves C unchanged as well.
RUNG_API void gemm(float alpha, const MatrixView<const float>& a, const MatrixView<const float>& b,
                   float beta, const MatrixView<float>& c, const GemmOptions& options = {});
RUNG_API void gemm(double alpha, const MatrixView<const double>& a,
                   const MatrixView<const double>& b, double beta, const MatrixView<double>& c,
                   const GemmOptions& options = {});
RUNG_API void gemm(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
                   const MatrixView<const std::int32_t>& b, std::int32_t beta,
                   const MatrixView<std::int32_t>& c, const GemmOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const bfloat16>& a,
                   const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c,
                   const GemmOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float16>& a,
                   const MatrixView<const float16>& b, float beta, const MatrixView<float>& c,
                   const GemmOptions& options = {});
RUNG_API void gemm(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
                   const MatrixView<const std::int8_t>& b, std::int32_t beta,
                   const MatrixView<std::int32_t>& c, const GemmOptions& options = {});

/// C = A * B.
inline void gemm(const MatrixView<const float>& a, const MatrixView<const float>& b,
                 const MatrixView<float>& c, const GemmOptions& options = {}) {
  gemm(1.0f, a, b, 0.0f, c, options);
}
inline void gemm(const MatrixView<const double>& a, const MatrixView<const double>& b,
                 const MatrixView<double>& c, const GemmOptions& options = {}) {
  gemm(1.0, a, b, 0.0, c, options);
}
inline void gemm(const MatrixView<const std::int32_t>& a, const MatrixView<const std::int32_t>& b,
                 const MatrixView<std::int32_t>& c, const GemmOptions& options = {}) {
  gemm(std::int32_t{1}, a, b, std::int32_t{0}, c, options);
}
inline void gemm(const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
                 const MatrixView<float>& c, const GemmOptions& options = {}) {
  gemm(1.0f, a, b, 0.0f, c, options);
}
inline void gemm(const MatrixView<const float16>& a, const MatrixView<const float16>& b,
                 const MatrixView<float>& c, const GemmOptions& options = {}) {
  gemm(1.0f, a, b, 0.0f, c, options);
}
inline void gemm(const MatrixView<const std::int8_t>& a, const MatrixView<const std::int8_t>& b,
                 const MatrixView<std::int32_t>& c, const GemmOptions& options = {}) {
  gemm(std::int32_t{1}, a, b, std::int32_t{0}, c, options);
}

}  // namespace rung
