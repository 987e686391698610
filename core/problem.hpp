#pragma once
// The problem that a rung computes, in the canonical form that all kernels use.

#include <cstdint>

namespace rung {

struct bfloat16;
struct float16;

/// The type of accumulators, alpha and beta for a result type: float for 16-bit results.
template <class Out>
struct ScalarOf {
  using type = Out;
};
template <>
struct ScalarOf<bfloat16> {
  using type = float;
};
template <>
struct ScalarOf<float16> {
  using type = float;
};
template <class Out>
using Scalar = typename ScalarOf<Out>::type;

/// A matrix: a pointer and two strides in elements. Row-major storage has col_stride 1,
/// column-major storage has row_stride 1. Members are constexpr so that device code can call them.
template <class T>
struct Matrix {
  T* data;
  std::int64_t row_stride;
  std::int64_t col_stride;

  constexpr T& operator()(std::int64_t row, std::int64_t col) const {
    return data[row * row_stride + col * col_stride];
  }
  constexpr Matrix transposed() const { return {data, col_stride, row_stride}; }
};

/// C (m x n) = alpha * A (m x k) * B (k x n) + beta * C, accumulated in Scalar<Out>.
///
/// Canonical form: c.col_stride is 1 (a column-major C is the row-major C of the transposed
/// problem), and A and B each have a stride of 1. With beta == 0, C is not read. With k == 0, C
/// becomes beta * C. With alpha == 0, a kernel may still read A and B and propagate a NaN; the
/// library promises that they are not read and handles that case itself. 32-bit integers are passed
/// as unsigned, for which C++ defines wrap-around.
template <class In, class Out = In>
struct Gemm {
  std::int64_t m, n, k;
  Scalar<Out> alpha;
  Matrix<const In> a;
  Matrix<const In> b;
  Scalar<Out> beta;
  Matrix<Out> c;
};

/// The sum over i in [0, n) of x[i * incx] * y[i * incy], accumulated in the type that the kernel
/// returns. The caller resolves negative increments, so x and y point to the element with i = 0.
template <class In>
struct Dot {
  std::int64_t n;
  const In* x;
  std::int64_t incx;
  const In* y;
  std::int64_t incy;
};

}  // namespace rung
