#pragma once
// The terms of a reduction: products of two elements for a dot product, elements of x for a plain
// sum. Kernels take either as a template parameter.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// True if the elements form consecutive 16-byte vectors.
template <class In>
__device__ __forceinline__ bool are_vectors(const In* data, std::int64_t increment) {
  return increment == 1 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

/// Vector i of W elements; with W = 1, element i.
template <int W, class In>
__device__ __forceinline__ Vector<In, W> vector_at(const In* data, std::int64_t increment,
                                                   std::int64_t i) {
  if constexpr (W == 1) {
    return {{data[i * increment]}};
  } else {
    return reinterpret_cast<const Vector<In, W>*>(data)[i];
  }
}

struct ProductTerms {
  /// Term i of n.
  template <class Out, class In>
  static __device__ __forceinline__ Out at(const Dot<In>& d, std::int64_t i) {
    return static_cast<Out>(d.x[i * d.incx]) * static_cast<Out>(d.y[i * d.incy]);
  }

  /// True if the terms can be loaded in pieces of vector_width<In> elements.
  template <class In>
  static __device__ __forceinline__ bool have_vectors(const Dot<In>& d) {
    return are_vectors(d.x, d.incx) && are_vectors(d.y, d.incy);
  }

  /// W adjacent terms as loaded: those of piece i, or zeros.
  template <class In, int W>
  struct Piece {
    static constexpr int width = W;
    Vector<In, W> x = {}, y = {};

    Piece() = default;
    __device__ __forceinline__ Piece(const Dot<In>& d, std::int64_t i)
        : x(vector_at<W>(d.x, d.incx, i)), y(vector_at<W>(d.y, d.incy, i)) {}

    template <class Out>
    __device__ __forceinline__ Out term(int w) const {
      return static_cast<Out>(x.at[w]) * static_cast<Out>(y.at[w]);
    }
  };
};

struct ElementTerms {
  template <class Out, class In>
  static __device__ __forceinline__ Out at(const Dot<In>& d, std::int64_t i) {
    return static_cast<Out>(d.x[i * d.incx]);
  }

  template <class In>
  static __device__ __forceinline__ bool have_vectors(const Dot<In>& d) {
    return are_vectors(d.x, d.incx);
  }

  template <class In, int W>
  struct Piece {
    static constexpr int width = W;
    Vector<In, W> x = {};

    Piece() = default;
    __device__ __forceinline__ Piece(const Dot<In>& d, std::int64_t i)
        : x(vector_at<W>(d.x, d.incx, i)) {}

    template <class Out>
    __device__ __forceinline__ Out term(int w) const {
      return static_cast<Out>(x.at[w]);
    }
  };
};

}  // namespace rung::cuda
