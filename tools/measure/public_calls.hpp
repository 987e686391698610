#pragma once
// Calls of the library's public interface with operands whose types are known at run time. `where` is the last
// argument of such a call: GemmOptions or OnGpu.

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "rung/batch.hpp"
#include "rung/cuda.hpp"
#include "rung/gemm.hpp"
#include "tools/measure/contender.hpp"

namespace rung::public_calls {

// Kernels use unsigned 32-bit integers; the public interface uses signed ones.
template <class T>
using Public = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t, T>;

/// Both strides are 1 for a single row or column stored transposed.
template <class T>
bool is_row_major(const Matrix<T>& matrix, std::int64_t cols) {
  return matrix.col_stride == 1 && matrix.row_stride >= cols;
}

template <class T>
MatrixView<Public<T>> view(const Matrix<T>& matrix, std::int64_t rows, std::int64_t cols) {
  auto* data = reinterpret_cast<Public<T>*>(matrix.data);
  if (is_row_major(matrix, cols)) return row_major(data, rows, cols, matrix.row_stride);
  return col_major(data, rows, cols, matrix.col_stride);
}

template <class T>
MatrixView<const Public<T>> view(const Matrix<const T>& matrix, std::int64_t rows,
                                 std::int64_t cols) {
  const auto* data = reinterpret_cast<const Public<T>*>(matrix.data);
  if (is_row_major(matrix, cols)) return row_major(data, rows, cols, matrix.row_stride);
  return col_major(data, rows, cols, matrix.col_stride);
}

using Calls = std::function<void(std::int64_t)>;

struct OnGpu {
  CudaStream stream;
  CudaOptions options;
};

/// Overload for types supported by rung::gemm() on this device.
template <class S, class A, class C>
auto gemm_at(const GemmOptions& cpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm(alpha, a, b, beta, c, cpu)) {
  return gemm(alpha, a, b, beta, c, cpu);
}
template <class S, class A, class C>
auto gemm_at(const OnGpu& gpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm(alpha, a, b, beta, c, gpu.stream, gpu.options)) {
  return gemm(alpha, a, b, beta, c, gpu.stream, gpu.options);
}

/// Overloads for rung::gemm_batched().
template <class S, class A, class C>
auto batch_at(const GemmOptions& cpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm_batched(alpha, a, b, beta, c, cpu)) {
  return gemm_batched(alpha, a, b, beta, c, cpu);
}
template <class S, class A, class C>
auto batch_at(const OnGpu& gpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm_batched(alpha, a, b, beta, c, gpu.stream)) {
  return gemm_batched(alpha, a, b, beta, c, gpu.stream, {.gemm = gpu.options});
}

/// Empty if the library does not support the types.
template <class Where>
Calls public_gemm(const GemmCall& call, const Where& where) {
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> Calls {
    const Gemm<In, Out> g = call.typed<In, Out>();
    const auto a = view(g.a, g.m, g.k);
    const auto b = view(g.b, g.k, g.n);
    const auto c = view(g.c, g.m, g.n);
    const auto alpha = static_cast<Public<Scalar<Out>>>(g.alpha);
    const auto beta = static_cast<Public<Scalar<Out>>>(g.beta);
    if constexpr (requires { gemm_at(where, alpha, a, b, beta, c); }) {
      if (call.batch != 1) {
        const auto as = strided(a, call.batch, call.a.batch_stride);
        const auto bs = strided(b, call.batch, call.b.batch_stride);
        const auto cs = strided(c, call.batch, call.c.batch_stride);
        return [=](std::int64_t calls) {
          for (std::int64_t i = 0; i < calls; ++i) batch_at(where, alpha, as, bs, beta, cs);
        };
      }
      return [=](std::int64_t calls) {
        for (std::int64_t i = 0; i < calls; ++i) gemm_at(where, alpha, a, b, beta, c);
      };
    } else {
      return {};
    }
  });
}

/// The result of `bind` for a dot product, if rung::dot() supports its type.
template <class Bind>
Bound bind_dot(const DotCall& call, const Bind& bind) {
  if (!is_for_dot(call.dtype)) return {{}, fmt::format("dot has no {}", rung::name(call.dtype))};
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out> elements) -> Bound {
    if constexpr (std::is_integral_v<In>) {
      return {{}, "dot has no i32"};
    } else {
      if (call.y == nullptr) return {{}, "the library has no sum"};
      return {bind(elements), {}};
    }
  });
}

}  // namespace rung::public_calls
