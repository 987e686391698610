#pragma once
// A uniform view of A and B: a tile of A has BM rows by BK k-steps, and a tile of B^T has BN
// columns by BK k-steps. B is transposed as an operand, so one loader supports both.
//
// An operand is K-major if elements along k are contiguous in memory. Otherwise it is MN-major,
// with contiguous elements along its extent, m or n.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/k_major.hpp"
#include "device/cuda/types.cuh"

// Place after a lambda's parameters. Otherwise compilers do not inline a large lambda, and tensor
// cores wait at the call.
#define RUNG_INLINE_LAMBDA __attribute__((always_inline))

namespace rung::cuda {

/// An operand as an extent x k matrix.
template <class In>
struct Operand {
  Matrix<const In> x;
  std::int64_t extent, k;

  /// Elements per global access: two of 8 bytes, four of other sizes.
  static constexpr int VEC = vector_width<In> < 4 ? vector_width<In> : 4;

  __device__ __forceinline__ bool is_k_major() const {
    return requires_k_major<In> || x.col_stride == 1;
  }

  /// True if every vector that begins at a multiple of VEC is aligned.
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

/// Calls f.template operator()<A_K_MAJOR, B_K_MAJOR>(). Tensor-core instructions depend on the
/// layouts of A and B, so f is compiled once per pair of layouts.
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
