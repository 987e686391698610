// From the public views to the canonical form, and on to the rung that the rules choose.

#include "rung/gemm.hpp"

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "library/check.hpp"
#include "library/select.hpp"

namespace rung {
namespace {

/// The type that kernels take for a type of the public interface, const or not.
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

/// True if A and B are needed for C.
template <class In, class Out>
bool check_call(Out alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
                const MatrixView<Out>& c, const GemmOptions& options) {
  check::threads("gemm", options.threads);
  check::matrix("gemm: A", a);
  check::matrix("gemm: B", b);
  check::matrix("gemm: C", c);
  if (a.rows != c.rows || b.cols != c.cols || a.cols != b.rows) [[unlikely]] {
    check::fail_shapes(a.rows, a.cols, b.rows, b.cols, c.rows, c.cols);
  }
  if (c.rows == 0 || c.cols == 0) return false;
  check::not_null("gemm: C", c);
  if (alpha == Out{} || a.cols == 0) return false;
  check::not_null("gemm: A", a);
  check::not_null("gemm: B", b);
  return true;
}

/// The order of a view, or of its transpose.
Order order_of(Order order, bool transpose) {
  return (order == Order::row_major) != transpose ? Order::row_major : Order::col_major;
}

template <class T>
Matrix<Kernel<T>> strided(const MatrixView<T>& view, bool transpose) {
  auto* data = reinterpret_cast<Kernel<T>*>(view.data);  // at most a change of signedness
  if (order_of(view.order, transpose) == Order::row_major) return {data, view.ld, 1};
  return {data, 1, view.ld};
}

/// C = beta * C.
template <class Out>
void scale(std::int64_t m, std::int64_t n, Out beta, const Matrix<Out>& c) {
  if (n == 0 || beta == Out{1}) return;
  for (std::int64_t i = 0; i < m; ++i) {
    Out* row = &c(i, 0);
    if (beta == Out{}) {
      std::fill_n(row, n, Out{});
    } else {
      std::for_each_n(row, n, [beta](Out& element) { element *= beta; });
    }
  }
}

template <class In, class Out>
void run(Out alpha, const MatrixView<const In>& a, const MatrixView<const In>& b, Out beta,
         const MatrixView<Out>& c, const GemmOptions& options) {
  using KernelIn = Kernel<In>;
  using KernelOut = Kernel<Out>;
  const bool multiply = check_call(alpha, a, b, c, options);
  // A column-major C is the row-major C of C^T = alpha B^T A^T + beta C^T.
  const bool transpose = c.order == Order::col_major;
  const auto& left = transpose ? b : a;
  const auto& right = transpose ? a : b;
  const Gemm<KernelIn, KernelOut> problem{.m = transpose ? c.cols : c.rows,
                                          .n = transpose ? c.rows : c.cols,
                                          .k = a.cols,
                                          .alpha = static_cast<KernelOut>(alpha),
                                          .a = strided(left, transpose),
                                          .b = strided(right, transpose),
                                          .beta = static_cast<KernelOut>(beta),
                                          .c = strided(c, transpose)};
  if (!multiply) return scale(problem.m, problem.n, problem.beta, problem.c);
  const GemmShape shape{.dtype = dtype_of<KernelIn>(),
                        .m = problem.m,
                        .n = problem.n,
                        .k = problem.k,
                        .a = order_of(left.order, transpose),
                        .b = order_of(right.order, transpose)};
  const GemmChoice choice = choose_gemm(shape, options.threads);
  choice.rung->function<KernelIn>()(problem, choice.threads);
}

}  // namespace

void gemm(float alpha, const MatrixView<const float>& a, const MatrixView<const float>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(double alpha, const MatrixView<const double>& a, const MatrixView<const double>& b,
          double beta, const MatrixView<double>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
          const MatrixView<const std::int32_t>& b, std::int32_t beta,
          const MatrixView<std::int32_t>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(float alpha, const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(float alpha, const MatrixView<const float16>& a, const MatrixView<const float16>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

}  // namespace rung
