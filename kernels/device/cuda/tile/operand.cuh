#pragma once
// A and B alike: a tile of A is BM rows by BK steps of k, a tile of B^T is BN columns by BK steps
// of k. As an operand, B is transposed, so one loader serves both.
//
// An operand is K-major if elements along k are contiguous in memory; else it is MN-major, and
// elements along its extent, m or n, are contiguous.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"

// After the parameters of a lambda. Compilers leave a large one out of line otherwise, and tensor
// cores then wait at the call.
#define RUNG_INLINE_LAMBDA __attribute__((always_inline))

namespace rung::cuda {

/// Whether wgmma reads a type from K-major tiles only. The host packs other operands first
/// (library/pack_operand.cu).
template <class In>
inline constexpr bool requires_k_major = sizeof(In) == 1;
template <>
inline constexpr bool requires_k_major<tfloat32> = true;

/// An operand as a matrix of extent x k.
template <class In>
struct Operand {
  Matrix<const In> x;
  std::int64_t extent, k;

  /// Elements of one global access: two of 8 bytes, four of any others.
  static constexpr int VEC = vector_width<In> < 4 ? vector_width<In> : 4;

  __device__ __forceinline__ bool is_k_major() const {
    return requires_k_major<In> || x.col_stride == 1;
  }

  /// Whether every vector that begins at a multiple of VEC is aligned.
  __device__ __forceinline__ bool is_aligned() const {
    const std::int64_t ld = is_k_major() ? x.row_stride : x.col_stride;
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

/// Calls f.template operator()<A_K_MAJOR, B_K_MAJOR>(). Instructions of tensor cores depend on the
/// layouts of A and B, so f is compiled once for each pair of layouts.
template <class In, class Out, class F>
__device__ __forceinline__ void with_layouts(const Gemm<In, Out>& g, const F& f) {
  if constexpr (requires_k_major<In>) {
    f.template operator()<true, true>();
  } else if (operand_a(g).is_k_major()) {
    if (operand_b(g).is_k_major()) {
      f.template operator()<true, true>();
    } else {
      f.template operator()<true, false>();
    }
  } else {
    if (operand_b(g).is_k_major()) {
      f.template operator()<false, true>();
    } else {
      f.template operator()<false, false>();
    }
  }
}

}  // namespace rung::cuda
