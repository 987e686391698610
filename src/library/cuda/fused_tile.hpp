#pragma once
// Which tile the kernels with an epilogue take: kernels/device/cuda/library/fused_epilogue.cu.

#include "backends/cuda/limits.hpp"
#include "backends/cuda/wave_model.hpp"
#include "core/dtype.hpp"
#include "rung/epilogue_kinds.hpp"

namespace rung::cuda {

/// The number of the tile with the least expected time among those for all parts, for a product of that
/// type whose results are of type `out`, on so many SMs. m, n and k are at least 1.
int fused_tile(Dtype dtype, const GemmSize& size, ElementType out, int multiprocessors);

/// The same among the tiles for common parts (has_common_parts()), and the splits of its last wave.
GemmConfig common_config(Dtype dtype, const GemmSize& size, const OddRows& odd_rows,
                         const Limits& limits);

}  // namespace rung::cuda
