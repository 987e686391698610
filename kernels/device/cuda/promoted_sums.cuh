#pragma once
// Products of 8-bit floating-point elements. wgmma keeps 14 bits of their sums (DeepSeek-V3
// Technical Report, arXiv:2412.19437, 3.3.2), so after every few steps they go to sums in
// registers, which CUDA cores add up in float.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx_wgmma.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Whether the sums of a type have to be promoted so.
template <class In>
inline constexpr bool is_promoted = false;
template <>
inline constexpr bool is_promoted<float8_e4m3> = true;
template <>
inline constexpr bool is_promoted<float8_e5m2> = true;

/// acc += 64 rows of A, from group_row of the tile on, times the tile's columns of B: one stage, of
/// 128 steps. While this warpgroup adds, tensor cores multiply for others.
template <class ATile, class BTile, class In, int J>
__device__ __forceinline__ void add_promoted(std::uint32_t a, std::uint32_t b, int group_row,
                                             float (&acc)[J][4]) {
  static_assert(J <= 24, "registers for two sums of each result");
  float sums[J][4];
  ptx::set_undefined(sums);
  ptx::wgmma_fence(sums);
  RUNG_UNROLL
  for (int k = 0; k < ATile::BK; k += 32) {
    ptx::wgmma_m64<In, false, false>(sums, ATile::descriptor(a, group_row, k),
                                     BTile::descriptor(b, 0, k), k > 0);
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(sums);
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) acc[j][i] += sums[j][i];
  }
}

}  // namespace rung::cuda
