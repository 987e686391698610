#pragma once
// An exact sum to which all threads of a block, and all blocks of a grid, add: the words of a
// LongAccumulator, updated atomically.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/exact.cuh"
#include "device/cuda/reduce/block_sum.cuh"
#include "device/long_accumulator.hpp"

namespace rung::cuda {

/// A block's words in shared memory, in the form to which LongAccumulator adds.
struct BlockWords {
  std::uint32_t address;

  __device__ __forceinline__ void operator()(int word, std::int64_t amount) const {
    ptx::red_add_shared(address + static_cast<std::uint32_t>(word) * 8, amount);
  }
};

// Not inlined: rare, and too long to duplicate in a kernel. The words are passed as an address
// instead of a struct, because clang 19 passes a struct that it never stored.
template <class Out>
RUNG_NO_INLINE __device__ void add_value(std::uint32_t words, double value) {
  LongAccumulator<Out>::add_value(value, BlockWords{words});
}
template <class Out>
RUNG_NO_INLINE __device__ void add_product(std::uint32_t words, double x, double y) {
  LongAccumulator<Out>::add_product(x, y, BlockWords{words});
}

/// Called by the first warp of each block. Adds the block's words to the grid's words in the
/// workspace and returns true in the last block of the grid. There, the block's words then hold the
/// total, and the workspace is restored to its initial state.
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
