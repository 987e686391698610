#pragma once
// Matrix multiplication.

#include <cstdint>
#include <type_traits>

#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

namespace detail {

template <class A, class B, class C, class... T>
inline constexpr bool is_product_of =
    std::is_same_v<void(std::remove_const_t<A>, std::remove_const_t<B>, C), void(T...)>;

/// True for the element types of A, B and C that gemm() supports on a CPU, including those of
/// rung/mixed.hpp.
template <class A, class B, class C>
inline constexpr bool has_product =
    is_product_of<A, B, C, float, float, float> || is_product_of<A, B, C, double, double, double> ||
    is_product_of<A, B, C, std::int32_t, std::int32_t, std::int32_t> ||
    is_product_of<A, B, C, std::int8_t, std::int8_t, std::int32_t> ||
    is_product_of<A, B, C, bfloat16, bfloat16, float> ||
    is_product_of<A, B, C, float16, float16, float> ||
    is_product_of<A, B, C, bfloat16, float, float> ||
    is_product_of<A, B, C, float, bfloat16, float>;

}  // namespace detail

/// Computes C = alpha * A * B + beta * C, where A is m x k, B is k x n and C is m x n, each
/// row-major or column-major. Pass transposed(a) to transpose an operand.
///
/// - Sums are accumulated in the type of C. The order of summation may depend on the machine, the
///   shape and the number of threads. int32 arithmetic wraps in two's complement and is exact
///   modulo 2^32; so are sums of int8 products.
/// - alpha multiplies complete or partial sums over k. If such a sum overflows, C is infinite or
///   NaN, however small alpha is. Scale A or B instead.
/// - Subnormal bfloat16 elements, and subnormal sums of their products, may be flushed to 0,
///   because the instructions of some CPUs do so.
/// - If beta == 0, C is overwritten without being read. If alpha == 0 or k == 0, C becomes beta *
///   C, and A and B are not read. Otherwise NaN and infinities propagate as in IEEE 754.
/// - On CPUs, all threads of a call use the caller's rounding mode and its flush-to-zero setting.
///   Conversions of bfloat16, float16 and 8-bit elements ignore both. Exception flags of all
///   threads are added to the caller's. Traps enabled by the caller (feenableexcept) raise SIGFPE
///   only in the calling thread. See ComputeMode for modes that ignore the caller's environment.
/// - m, n and k may be 0.
/// - C must not share a byte with A or B, unless these are not read. Gaps between rows or columns
///   do not count.
/// - Views are passed by reference only for speed; the call retains none of them.
/// - May be called from several threads at once, and until the end of the process, including from
///   static and thread_local destructors. C is complete when the call returns.
/// - Needs at most 64 KiB of stack.
///
/// Throws rung::Error (Status::invalid_argument), before writing anything, if a size is negative,
/// the shapes do not match, a leading dimension is too small, a pointer is null and there is work
/// to do, C overlaps A or B, a matrix spans more than 2^63 - 1 bytes, options.threads is negative,
/// or options.compute_mode is unknown. Throws std::bad_alloc if there is no memory for packed
/// operands; C is unchanged in this case, too.
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

/// Deleted: other element types have no CPU product. Compilers quote the next line in the error, so
/// it lists the allowed types.
template <class Alpha, class A, class B, class Beta, class C>
  requires(!detail::has_product<A, B, C>)
void gemm(  // allowed: float, double, int32_t; bfloat16, float16 to float; int8_t to int32_t
    Alpha, const MatrixView<A>&, const MatrixView<B>&, Beta, const MatrixView<C>&,
    const GemmOptions& = {}) = delete;
template <class A, class B, class C>
  requires(!detail::has_product<A, B, C>)
void gemm(  // allowed: float, double, int32_t; bfloat16, float16 to float; int8_t to int32_t
    const MatrixView<A>&, const MatrixView<B>&, const MatrixView<C>&,
    const GemmOptions& = {}) = delete;

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
