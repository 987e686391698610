#pragma once
// What a reduction adds up: for a dot product the products of two elements, for a sum the elements
// of x alone. A kernel with either as a template parameter serves both.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/vector.cuh"

namespace rung::cuda {

/// Whether consecutive elements from `data` on are vectors of 16 bytes.
template <class In>
__device__ __forceinline__ bool is_vectors(const In* data, std::int64_t increment) {
  return increment == 1 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

/// 16 bytes from element i on.
template <class In>
__device__ __forceinline__ Vector<In, vector_width<In>> vector_at(const In* data, std::int64_t i) {
  return *reinterpret_cast<const Vector<In, vector_width<In>>*>(data + i);
}

struct ProductTerms {
  /// Term i of n.
  template <class Out, class In>
  static __device__ __forceinline__ Out at(const Dot<In>& d, std::int64_t i) {
    return static_cast<Out>(d.x[i * d.incx]) * static_cast<Out>(d.y[i * d.incy]);
  }

  template <class In>
  static __device__ __forceinline__ bool come_in_pieces(const Dot<In>& d) {
    return is_vectors(d.x, d.incx) && is_vectors(d.y, d.incy);
  }

  /// Neighbouring terms, of 16 bytes of either vector: of zeros, or those from term i on.
  template <class In>
  struct Piece {
    Vector<In, vector_width<In>> x = {}, y = {};

    Piece() = default;
    __device__ __forceinline__ Piece(const Dot<In>& d, std::int64_t i)
        : x(vector_at(d.x, i)), y(vector_at(d.y, i)) {}

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
  static __device__ __forceinline__ bool come_in_pieces(const Dot<In>& d) {
    return is_vectors(d.x, d.incx);
  }

  template <class In>
  struct Piece {
    Vector<In, vector_width<In>> x = {};

    Piece() = default;
    __device__ __forceinline__ Piece(const Dot<In>& d, std::int64_t i) : x(vector_at(d.x, i)) {}

    template <class Out>
    __device__ __forceinline__ Out term(int w) const {
      return static_cast<Out>(x.at[w]);
    }
  };
};

}  // namespace rung::cuda
