#pragma once
// Problems with erased element types, as used by the catalog, verification and bench.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/element_types.hpp"
#include "core/problem.hpp"
#include "rung/options.hpp"

namespace rung {

/// Memory that consists of `rows` pieces of `row_bytes` bytes, `pitch` bytes apart.
struct Storage {
  std::byte* begin = nullptr;
  std::int64_t rows = 0, row_bytes = 0, pitch = 0;
};

template <class Pointer>
struct AnyMatrix {
  Pointer data;
  std::int64_t row_stride;
  std::int64_t col_stride;
  /// The memory of the matrix including any guards. A device with its own memory copies all of it
  /// in both directions, so that guards are checked as on the host.
  Storage storage = {};
  std::int64_t batch_stride = 0;  // distance in elements between consecutive matrices of a batch
  /// The address of each matrix of a batch, replacing batch_stride. The array is in the same memory
  /// as the matrices.
  const Pointer* pointers = nullptr;

  template <class T>
  Matrix<T> as() const {
    return {static_cast<T*>(data), row_stride, col_stride};
  }
};

/// A Gemm<In, Out> with the types of `dtype`, in the same canonical form, or a batch of them.
struct GemmCall {
  Dtype dtype;
  std::int64_t m, n, k;
  double alpha;
  AnyMatrix<const void*> a;
  AnyMatrix<const void*> b;
  double beta;
  AnyMatrix<void*> c;
  ComputeMode compute_mode = ComputeMode::standard;
  std::int64_t batch = 1;  // number of products: see AnyMatrix::batch_stride
  /// Device memory, only on a GPU: set to 1 if a product was skipped because of a null pointer in
  /// an array. Null: not reported.
  int* batch_status = nullptr;
  /// True if the pointers are already device pointers of the CUDA driver, so that operands are
  /// neither copied nor owned. Only CUDA backends and vendor libraries accept such a call.
  bool on_device = false;

  template <class In, class Out>
  Gemm<In, Out> typed() const {
    // Convert through a signed type: converting a negative double directly to unsigned is
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

/// A Dot<In> with the type of `dtype`. For a plain sum, y is null and stands for ones.
struct DotCall {
  Dtype dtype;
  std::int64_t n;
  const void* x;
  std::int64_t incx;
  const void* y;
  std::int64_t incy;
  /// The memory of the vectors including any guards: see AnyMatrix.
  Storage x_storage = {}, y_storage = {};

  template <class In>
  Dot<In> typed() const {
    return {n, static_cast<const In*>(x), incx, static_cast<const In*>(y), incy};
  }
};

}  // namespace rung
