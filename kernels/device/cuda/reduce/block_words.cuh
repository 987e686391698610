#pragma once
// A sum without rounding that all threads of a block, and all blocks of a grid, add to: the words
// of a LongAccumulator, by atomic additions.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/exact.cuh"
#include "device/cuda/reduce/block_sum.cuh"
#include "device/long_accumulator.hpp"

namespace rung::cuda {

/// Those of a block, in shared memory: what LongAccumulator adds by.
struct BlockWords {
  std::uint32_t address;

  __device__ __forceinline__ void operator()(int word, std::int64_t amount) const {
    ptx::red_add_shared(address + static_cast<std::uint32_t>(word) * 8, amount);
  }
};

// Rare, and too long to be in a kernel wherever it adds. The words are an address and no struct:
// clang 19 calls with one that it never stored.
template <class Out>
RUNG_NO_INLINE __device__ void add_value(std::uint32_t words, double value) {
  LongAccumulator<Out>::add_value(value, BlockWords{words});
}
template <class Out>
RUNG_NO_INLINE __device__ void add_product(std::uint32_t words, double x, double y) {
  LongAccumulator<Out>::add_product(x, y, BlockWords{words});
}

/// Called by the first warp of each block: adds the block's words to those of all blocks, in the
/// workspace, and says whether it was the last one of the grid. Then the block's words are the sum
/// of all, and the workspace is as it was.
template <class Long>
__device__ __forceinline__ bool is_last_to_add(void* workspace, std::int64_t* words) {
  constexpr int ahead = 128;  // bytes before the words, for the count of blocks
  static_assert(ahead + 8 * Long::words <= semaphores_bytes, "zero when a launch begins");
  __shared__ bool is_last;
  const int lane = static_cast<int>(threadIdx.x);
  auto* const of_all =
      reinterpret_cast<std::int64_t*>(static_cast<unsigned char*>(workspace) + ahead);
  for (int i = lane; i < Long::words; i += warp_lanes) {
    const std::int64_t word = i < Long::digits ? Long::carried(words, i) : words[i];
    if (word != 0) ptx::red_add(&of_all[i], word);
  }
  ptx::bar_warp_sync();
  if (lane == 0) {
    auto* const arrived = static_cast<unsigned*>(workspace);
    is_last = ptx::atom_inc_acq_rel_gpu(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  ptx::bar_warp_sync();
  if (!is_last) return false;
  for (int i = lane; i < Long::words; i += warp_lanes) {
    words[i] = of_all[i];
    of_all[i] = 0;
  }
  ptx::bar_warp_sync();
  return true;
}

}  // namespace rung::cuda
