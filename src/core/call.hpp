#pragma once
// A problem with its element type erased: the common currency of registry, verification and bench.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "rung/options.hpp"

namespace rung {

/// Memory as `rows` pieces of `row_bytes` each, `pitch` bytes apart.
struct Storage {
  std::byte* begin = nullptr;
  std::int64_t rows = 0, row_bytes = 0, pitch = 0;
};

template <class Pointer>
struct AnyMatrix {
  Pointer data;
  std::int64_t row_stride;
  std::int64_t col_stride;
  /// The memory of the matrix, including any guards around it. A device with its own memory copies
  /// both there and back, so that the guards are checked as on the host.
  Storage storage = {};
  std::int64_t batch_stride = 0;  // elements from one matrix of a batch to the next
  /// Instead of that, the address of each matrix of a batch. The array is where the matrices are.
  const Pointer* pointers = nullptr;

  template <class T>
  Matrix<T> as() const {
    return {static_cast<T*>(data), row_stride, col_stride};
  }
};

/// Gemm<In, Out> of the dtype, in the same canonical form, or a batch of them.
struct GemmCall {
  Dtype dtype;
  std::int64_t m, n, k;
  double alpha;
  AnyMatrix<const void*> a;
  AnyMatrix<const void*> b;
  double beta;
  AnyMatrix<void*> c;
  ComputeMode compute_mode = ComputeMode::standard;
  std::int64_t batch = 1;  // products: see AnyMatrix::batch_stride
  /// On a GPU, in its memory: becomes 1 if a product was left out because of a null pointer in an
  /// array. Null: not reported.
  int* batch_status = nullptr;
  /// The pointers are those of a device behind the CUDA driver, which then neither copies nor owns
  /// the operands. Only its backends and peers take such a call.
  bool on_device = false;

  template <class In, class Out>
  Gemm<In, Out> typed() const {
    // Converts through a signed type, because converting a negative double directly to unsigned is
    // undefined.
    const auto scalar = [](double value) {
      if constexpr (std::is_integral_v<Out>) {
        return static_cast<Out>(static_cast<std::int64_t>(value));
      } else {
        return static_cast<Scalar<Out>>(value);
      }
    };
    return {m, n, k, scalar(alpha), a.as<const In>(), b.as<const In>(), scalar(beta), c.as<Out>()};
  }
};

/// Dot<In> of the dtype. A sum is the dot product with implicit ones: its y is null.
struct DotCall {
  Dtype dtype;
  std::int64_t n;
  const void* x;
  std::int64_t incx;
  const void* y;
  std::int64_t incy;
  /// The memory of the vectors, including any guards around them: see AnyMatrix.
  Storage x_storage = {}, y_storage = {};

  template <class In>
  Dot<In> typed() const {
    return {n, static_cast<const In*>(x), incx, static_cast<const In*>(y), incy};
  }
};

}  // namespace rung
