#pragma once
// Runs a type-erased call through the public interface, so that core/verify can judge it.

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/call.hpp"
#include "core/dtype_traits.hpp"
#include "rung/rung.hpp"

namespace rung {

/// The public element type for that of a kernel: int32 for uint32.
template <class T>
using Public = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t, T>;

template <class T, class Pointer>
MatrixView<T> view(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols) {
  auto* data = static_cast<T*>(matrix.data);
  // Both strides are 1 for a single dense column that is row-major, or a row that is column-major.
  if (matrix.col_stride == 1 && matrix.row_stride >= cols) {
    return row_major(data, rows, cols, matrix.row_stride);
  }
  return col_major(data, rows, cols, matrix.col_stride);
}

/// The problem as it is, or its transpose, with a column-major C.
enum class Form { row_major_c, col_major_c };

/// True if gemm() supports these types. (Inside the lambda itself, GCC 12 fails on this
/// expression.)
template <class Scalar, class In, class Out, class... Where>
concept HasGemm = requires(Scalar alpha, MatrixView<const In> a, MatrixView<Out> c,
                           const Where&... where) { gemm(alpha, a, a, alpha, c, where...); };

/// `where`: the trailing arguments: options, or a stream and options.
template <class... Where>
void public_gemm(const GemmCall& call, Form form, const Where&... where) {
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const auto problem = call.typed<In, Out>();
    const auto alpha = static_cast<Public<Scalar<Out>>>(problem.alpha);
    const auto beta = static_cast<Public<Scalar<Out>>>(problem.beta);
    const auto a = view<const Public<In>>(call.a, call.m, call.k);
    const auto b = view<const Public<In>>(call.b, call.k, call.n);
    const auto c = view<Public<Out>>(call.c, call.m, call.n);
    if constexpr (HasGemm<Public<Scalar<Out>>, Public<In>, Public<Out>, Where...>) {
      if (form == Form::row_major_c) {
        gemm(alpha, a, b, beta, c, where...);
      } else {
        gemm(alpha, transposed(b), transposed(a), beta, transposed(c), where...);
      }
    } else {
      throw std::invalid_argument("gemm has no such type here");
    }
  });
}

template <class In, class Out, class... Where>
concept HasBatched =
    requires(Public<Scalar<Out>> alpha, BatchView<const Public<In>> a, BatchView<Public<Out>> c,
             const Where&... where) { gemm_batched(alpha, a, a, alpha, c, where...); };

template <class T, class Pointer>
BatchView<T> batch(const GemmCall& call, const AnyMatrix<Pointer>& operand, std::int64_t rows,
                   std::int64_t cols) {
  return {view<T>(operand, rows, cols), call.batch, operand.batch_stride,
          reinterpret_cast<T* const*>(operand.pointers)};
}

template <class T>
BatchView<T> transposed(const BatchView<T>& batch) {
  return {transposed(batch.matrix), batch.count, batch.stride, batch.pointers};
}

/// public_gemm() for a batch.
template <class... Where>
void public_gemm_batched(const GemmCall& call, Form form, const Where&... where) {
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const auto problem = call.typed<In, Out>();
    const auto alpha = static_cast<Public<Scalar<Out>>>(problem.alpha);
    const auto beta = static_cast<Public<Scalar<Out>>>(problem.beta);
    const auto a = batch<const Public<In>>(call, call.a, call.m, call.k);
    const auto b = batch<const Public<In>>(call, call.b, call.k, call.n);
    const auto c = batch<Public<Out>>(call, call.c, call.m, call.n);
    if constexpr (HasBatched<In, Out, Where...>) {
      if (form == Form::row_major_c) {
        gemm_batched(alpha, a, b, beta, c, where...);
      } else {
        gemm_batched(alpha, transposed(b), transposed(a), beta, transposed(c), where...);
      }
    } else {
      throw std::invalid_argument("gemm_batched has no such type here");
    }
  });
}

/// The addresses of the matrices of a strided operand.
template <class Pointer>
std::vector<Pointer> addresses(const AnyMatrix<Pointer>& operand, std::int64_t count,
                               std::size_t element_bytes) {
  std::vector<Pointer> pointers;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bytes = static_cast<std::uintptr_t>(i * operand.batch_stride) * element_bytes;
    pointers.push_back(
        reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(operand.data) + bytes));
  }
  return pointers;
}

/// The pointers of a DotCall are those of i = 0; the public ones are the lowest addresses.
inline double public_dot(const DotCall& call, const DotOptions& options = {}) {
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> double {
    if constexpr (std::is_same_v<In, std::uint32_t>) {
      throw std::invalid_argument("dot has no i32");
    } else {
      const auto lowest = [&](const void* data, std::int64_t increment) {
        const auto* first = static_cast<const In*>(data);
        return increment < 0 && call.n > 0 ? first + (call.n - 1) * increment : first;
      };
      return static_cast<double>(dot(call.n, lowest(call.x, call.incx), call.incx,
                                     lowest(call.y, call.incy), call.incy, options));
    }
  });
}

}  // namespace rung
