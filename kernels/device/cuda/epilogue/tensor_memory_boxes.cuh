#pragma once
// Stores sums in tensor memory through shared memory: TMA stores boxes of results or, if it cannot,
// threads store rows of them.

#include <cstdint>

#include "device/cuda/epilogue/tensor_memory.cuh"
#include "device/cuda/epilogue/tma_store.cuh"

namespace rung::cuda {

/// Two boxes of 32 rows of 128 bytes for each of four warps, which use them in turn.
template <int COLUMNS>
struct TensorMemoryBoxes {
  static_assert(COLUMNS % 64 == 0);
  alignas(1024) float at[4][2][32 * 32];

  /// Stores 128 x COLUMNS sums, as store_tensor_memory() does, to C, which `map` describes. TMA
  /// reads the boxes until wait().
  template <class In>
  __device__ __forceinline__ void store(const Gemm<In, float>& g, const EncodedTensorMap& map,
                                        std::int64_t row, std::int64_t col, std::uint32_t sums) {
    if (!can_tma_store(g)) return store_tensor_memory<COLUMNS>(g, row, col, sums);
    const unsigned warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    RUNG_NO_UNROLL
    for (int j = 0; j < COLUMNS; j += 32) {  // all boxes, so that they alternate in every tile
      float d[32];
      load_tensor_memory(g, d, sums, j);

      // sync: TMA has read the previous contents of the box
      float* const box = at[warp][j / 32 % 2];
      if (lane == 0) ptx::tma_store_wait_group_read<1>();
      ptx::bar_warp_sync();
      RUNG_UNROLL
      for (int i = 0; i < 32; i += 4) {
        *reinterpret_cast<Vector<float, 4>*>(&box[index_in_box<float>(lane, i)]) = {
            g.alpha * d[i], g.alpha * d[i + 1], g.alpha * d[i + 2], g.alpha * d[i + 3]};
      }

      // sync: the box is complete and visible to the async proxy
      ptx::fence_proxy_async();
      ptx::bar_warp_sync();
      if (lane == 0) {
        ptx::tma_store_2d(&map, static_cast<int>(col) + j, static_cast<int>(row + warp * 32),
                          ptx::cvta_to_shared(box));
        ptx::tma_store_commit_group();
      }
    }
  }

  /// Each warp waits until TMA has read its boxes. Call it before the block ends.
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x % 32 == 0) ptx::tma_store_wait_group_read<0>();
  }
};

}  // namespace rung::cuda
