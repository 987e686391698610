#pragma once
// Stores sums in tensor memory as results in C.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/tcgen05.cuh"

namespace rung::cuda {

/// Loads 32 columns, from column j, of 128 rows of sums at an address in tensor memory. The four
/// warps of a warpgroup call it: warp w reaches lanes 32 w to 32 w + 31, and each thread loads a
/// row. Without k-steps, the sums are zero and tensor memory is not read.
template <class In>
__device__ __forceinline__ void load_tensor_memory(const Gemm<In, float>& g, float (&d)[32],
                                                   std::uint32_t sums, int j) {
  RUNG_UNROLL
  for (int i = 0; i < 32; ++i) d[i] = 0;
  if (g.k == 0) return;
  const std::uint32_t lanes_of_warp = threadIdx.x % 128 / 32 * 32 << 16;
  ptx::tcgen05_ld(d, sums + lanes_of_warp + static_cast<std::uint32_t>(j));
  ptx::tcgen05_wait_ld(d);
}

/// Stores 128 x COLUMNS sums at an address in tensor memory to C, from element (row, col). The four
/// warps of a warpgroup call it.
template <int COLUMNS, class In>
__device__ __forceinline__ void store_tensor_memory(const Gemm<In, float>& g, std::int64_t row,
                                                    std::int64_t col, std::uint32_t sums) {
  RUNG_NO_UNROLL
  for (int j = 0; j < COLUMNS && col + j < g.n; j += 32) {
    float d[32];
    load_tensor_memory(g, d, sums, j);
    RUNG_UNROLL
    for (int i = 0; i < 32; i += 4) {
      store_vector(g, row + threadIdx.x % 128, col + j + i, &d[i]);
    }
  }
}

}  // namespace rung::cuda
