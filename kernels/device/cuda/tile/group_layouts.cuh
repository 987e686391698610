#pragma once
// Layouts of A and B for grouped kernels, limited to three pairs to reduce code size. A is packed
// K-major if B is K-major, and whenever offsets group rows: TMA reads from multiples of 16 bytes
// along a row in memory, but groups begin anywhere.

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
constexpr bool a_is_k_major(const Gemm<In, Out>& g, bool cuts_k) {
  return !cuts_k || b_is_k_major(g) || g.a.col_stride == 1;
}

/// The number of k-steps that a tile loads before its first step `begin`, so that TMA reads from a
/// multiple of 16 bytes.
template <class In, class Out>
__device__ __forceinline__ int lead_of(const Gemm<In, Out>& g, int begin) {
  const bool is_along_rows = a_is_k_major(g, true) || b_is_k_major(g);
  return is_along_rows ? begin % static_cast<int>(16 / sizeof(In)) : 0;
}

/// tensor_map_of_a(), for a packed copy if the layout is not one of the three pairs. If offsets
/// group rows, the host packs A in any case.
template <class In, class Out>
constexpr TensorMapSpec tensor_map_of_a_in_groups(const Gemm<In, Out>& g, int box_extent) {
  TensorMapSpec a = tensor_map_of_a(g, box_extent);
  if (a.is_transposed || g.a.col_stride == 1 || !a_is_k_major(g, true)) return a;
  a.row_length = g.k;
  a.rows = g.m;
  a.box_rows = box_extent;
  a.is_transposed = true;
  return a;
}

/// with_layouts() for the three pairs.
template <class In, class Out, class F>
__device__ __forceinline__ void with_group_layouts(const Gemm<In, Out>& g, bool cuts_k,
                                                   const F& f) {
  if constexpr (requires_k_major<In>) {
    f.template operator()<true, true>();
  } else if (b_is_k_major(g)) {
    f.template operator()<true, true>();
  } else if (a_is_k_major(g, cuts_k)) {
    f.template operator()<true, false>();
  } else {
    f.template operator()<false, false>();
  }
}

}  // namespace rung::cuda
