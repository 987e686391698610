#pragma once
// A and B are alike: a tile of either is some rows of A or columns of B, its extent, by some steps
// along k. Transposed, B is like A, and one loader serves both.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"
#include "device/cuda/vector.cuh"

namespace rung::cuda {

/// Whether wgmma reads a type only where elements along k lie together. Operands that lie otherwise
/// are copied, transposed, before.
template <class In>
inline constexpr bool is_read_along_k = sizeof(In) == 1;
template <>
inline constexpr bool is_read_along_k<tfloat32> = true;

/// An operand as a matrix of extent x k.
template <class In>
struct Operand {
  Matrix<const In> x;
  std::int64_t extent, k;

  /// Elements of one global access; two of 8 bytes, four of any others.
  static constexpr int VEC = vector_width<In> < 4 ? vector_width<In> : 4;

  /// Whether elements along k lie together; else those along the extent do.
  __device__ __forceinline__ bool is_along_k() const {
    return is_read_along_k<In> || x.col_stride == 1;
  }

  /// Whether every vector that begins at a multiple of VEC is aligned.
  __device__ __forceinline__ bool is_aligned() const {
    const std::int64_t ld = is_along_k() ? x.row_stride : x.col_stride;
    return ld % VEC == 0 && reinterpret_cast<std::uintptr_t>(x.data) % (VEC * sizeof(In)) == 0;
  }
};

template <class In, class Out>
__device__ __forceinline__ Operand<In> operand_a(const Gemm<In, Out>& g) {
  return {g.a, g.m, g.k};
}

template <class In, class Out>
__device__ __forceinline__ Operand<In> operand_b(const Gemm<In, Out>& g) {
  return {g.b.transposed(), g.n, g.k};
}

}  // namespace rung::cuda
