#pragma once
// Layouts of A and B for a kernel whose size counts: three pairs. If B is K-major, A is packed to be
// so, too.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

template <class In, class Out>
constexpr bool b_is_k_major(const Gemm<In, Out>& g) {
  return requires_k_major<In> || g.b.row_stride == 1;
}
template <class In, class Out>
constexpr bool a_is_k_major(const Gemm<In, Out>& g) {
  return b_is_k_major(g) || g.a.col_stride == 1;
}

/// As tensor_map_of_a(), of a copy where the layout is none of the three.
template <class In, class Out>
constexpr TensorMapSpec tensor_map_of_a_in_groups(const Gemm<In, Out>& g, int box_extent) {
  TensorMapSpec a = tensor_map_of_a(g, box_extent);
  if (a.is_transposed || g.a.col_stride == 1 || !b_is_k_major(g)) return a;
  a.row_length = g.k;
  a.rows = g.m;
  a.box_rows = box_extent;
  a.is_transposed = true;
  return a;
}

/// with_layouts() for the three pairs.
template <class In, class Out, class F>
__device__ __forceinline__ void with_group_layouts(const Gemm<In, Out>& g, const F& f) {
  if constexpr (requires_k_major<In>) {
    f.template operator()<true, true>();
  } else if (b_is_k_major(g)) {
    f.template operator()<true, true>();
  } else if (a_is_k_major(g)) {
    f.template operator()<true, false>();
  } else {
    f.template operator()<false, false>();
  }
}

}  // namespace rung::cuda
