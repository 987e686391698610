#pragma once
// Converts checked public views to the canonical form of core/problem.hpp.

#include <cstdint>

#include "core/call.hpp"
#include "core/dtype_traits.hpp"
#include "core/problem.hpp"
#include "library/check.hpp"
#include "rung/matrix.hpp"

namespace rung {

/// The kernels' type for a type of the public interface, const or not.
template <class T>
struct KernelType {
  using type = T;
};
template <>
struct KernelType<std::int32_t> {
  using type = std::uint32_t;
};
template <class T>
struct KernelType<const T> {
  using type = const typename KernelType<T>::type;
};
template <class T>
using Kernel = typename KernelType<T>::type;

template <class In, class Out>
struct CanonicalGemm {
  Gemm<Kernel<In>, Kernel<Out>> problem;
  Order a, b;       // storage order of A and B in the problem
  bool multiplies;  // if false, C becomes beta * C, and A and B may be null
};

namespace detail {

/// Checks the arguments. Returns true if C depends on A and B.
template <class In, class Out>
[[gnu::always_inline]] inline bool check_call(Scalar<Out> alpha, const MatrixView<const In>& a,
                                              const MatrixView<const In>& b,
                                              const MatrixView<Out>& c) {
  check::matrix("gemm: A", a);
  check::matrix("gemm: B", b);
  check::matrix("gemm: C", c);
  if (a.rows != c.rows || b.cols != c.cols || a.cols != b.rows) [[unlikely]] {
    check::fail_shapes(a.rows, a.cols, b.rows, b.cols, c.rows, c.cols);
  }
  if (c.rows == 0 || c.cols == 0) return false;
  check::not_null("gemm: C", c);
  if (alpha == Scalar<Out>{} || a.cols == 0) return false;
  check::not_null("gemm: A", a);
  check::not_null("gemm: B", b);
  return true;
}

/// The order of a view, or of its transpose.
inline Order order_of(Order order, bool transpose) {
  return (order == Order::row_major) != transpose ? Order::row_major : Order::col_major;
}

template <class T>
Matrix<Kernel<T>> strided(const MatrixView<T>& view, bool transpose) {
  auto* data = reinterpret_cast<Kernel<T>*>(view.data);  // changes at most the signedness
  if (order_of(view.order, transpose) == Order::row_major) return {data, view.ld, 1};
  return {data, 1, view.ld};
}

}  // namespace detail

/// canonical() for views that have already been checked.
template <class In, class Out>
[[gnu::always_inline]] inline CanonicalGemm<In, Out> canonical_form(
    Scalar<Out> alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
    Scalar<Out> beta, const MatrixView<Out>& c, bool multiplies) {
  // A column-major C is the row-major C of C^T = alpha B^T A^T + beta C^T.
  const bool transpose = c.order == Order::col_major;
  const auto& left = transpose ? b : a;
  const auto& right = transpose ? a : b;
  return {.problem = {.m = transpose ? c.cols : c.rows,
                      .n = transpose ? c.rows : c.cols,
                      .k = a.cols,
                      .alpha = static_cast<Scalar<Kernel<Out>>>(alpha),
                      .a = detail::strided(left, transpose),
                      .b = detail::strided(right, transpose),
                      .beta = static_cast<Scalar<Kernel<Out>>>(beta),
                      .c = detail::strided(c, transpose)},
          .a = detail::order_of(left.order, transpose),
          .b = detail::order_of(right.order, transpose),
          .multiplies = multiplies};
}

/// Checks and converts the arguments. Throws rung::Error (Status::invalid_argument).
template <class In, class Out>
[[gnu::always_inline]] inline CanonicalGemm<In, Out> canonical(Scalar<Out> alpha,
                                                               const MatrixView<const In>& a,
                                                               const MatrixView<const In>& b,
                                                               Scalar<Out> beta,
                                                               const MatrixView<Out>& c) {
  const bool multiplies = detail::check_call(alpha, a, b, c);
  return canonical_form(alpha, a, b, beta, c, multiplies);
}

/// A type-erased CanonicalGemm.
struct CanonicalCall {
  GemmCall call;
  Order a, b;       // as in CanonicalGemm
  bool multiplies;  // as in CanonicalGemm
};

template <class In, class Out>
CanonicalCall erased(const CanonicalGemm<In, Out>& canonical) {
  const auto& problem = canonical.problem;
  return {.call = {.dtype = dtype_of<Kernel<In>, Kernel<Out>>(),
                   .m = problem.m,
                   .n = problem.n,
                   .k = problem.k,
                   .alpha = static_cast<double>(problem.alpha),
                   .a = {problem.a.data, problem.a.row_stride, problem.a.col_stride},
                   .b = {problem.b.data, problem.b.row_stride, problem.b.col_stride},
                   .beta = static_cast<double>(problem.beta),
                   .c = {problem.c.data, problem.c.row_stride, problem.c.col_stride}},
          .a = canonical.a,
          .b = canonical.b,
          .multiplies = canonical.multiplies};
}

/// Checks and converts a dot product; increments as in BLAS. Throws rung::Error
/// (Status::invalid_argument).
template <class In>
Dot<In> canonical(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy) {
  if (n < 0) [[unlikely]]
    check::fail_negative("dot", "n", n);
  check::vector("dot: x", n, x, incx);
  check::vector("dot: y", n, y, incy);
  // The element with i = 0: for a negative increment, the one farthest from the pointer.
  const auto first = [n](const In* data, std::int64_t increment) {
    return increment < 0 && n > 0 ? data + (1 - n) * increment : data;
  };
  return {n, first(x, incx), incx, first(y, incy), incy};
}

}  // namespace rung
