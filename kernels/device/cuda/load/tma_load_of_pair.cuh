#pragma once
// TMA loads of a pair of blocks (sm_100a), whose bytes complete at an mbarrier of either block.

#include <cstdint>

#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/tcgen05.cuh"

namespace rung::cuda {

/// load_tile() into this block. The mbarrier is a shared::cluster address in this block or in the
/// other one of its pair.
template <int EXTENT>
__device__ __forceinline__ void load_tile_of_pair(std::uint32_t tile, const EncodedTensorMap& map,
                                                  bool k_major, int e, int k,
                                                  std::uint32_t barrier) {
  if (k_major) {
    ptx::tma_load_2d_of_pair(tile, &map, k, e, barrier);
  } else {
    RUNG_UNROLL
    for (int part = 0; part < EXTENT; part += 64) {
      ptx::tma_load_2d_of_pair(tile + part * 128, &map, e + part, k, barrier);
    }
  }
}

}  // namespace rung::cuda
