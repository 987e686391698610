#pragma once
// The parameter of kernels for block-scaled operands.

#include <cstddef>
#include <cstdint>

#include "core/block_scales.hpp"
#include "core/integers.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung {

struct float8_e4m3;

namespace cuda {

/// The kernel's only parameter.
struct BlockScaledArgs {
  KernelArgs<float8_e4m3, float> gemm;
  BlockScales scales = {};
};
static_assert(offsetof(BlockScaledArgs, gemm) == 0);

/// One of several tile sizes, with the clocks that a block takes for 128 k-steps.
struct ScaledTileCost {
  int BM, BN, clocks;
};

/// The index of the tile size with the shortest total time of its waves.
template <std::size_t COUNT>
constexpr int fastest_tile(const ScaledTileCost (&tiles)[COUNT], std::int64_t m, std::int64_t n,
                           int multiprocessors) {
  int best = 0;
  std::int64_t least = 0;
  for (int i = 0; i < static_cast<int>(COUNT); ++i) {
    const std::int64_t blocks = ceil_div(m, tiles[i].BM) * ceil_div(n, tiles[i].BN);
    const std::int64_t clocks = ceil_div(blocks, multiprocessors) * tiles[i].clocks;
    if (i > 0 && clocks >= least) continue;
    best = i;
    least = clocks;
  }
  return best;
}

}  // namespace cuda
}  // namespace rung
