#pragma once
// Which tile the kernels with an epilogue take: kernels/device/cuda/library/fused_epilogue.cu.

#include "backends/cuda/limits.hpp"
#include "core/dtype.hpp"
#include "rung/epilogue_kinds.hpp"

namespace rung::cuda {

/// The number of the tile with the least expected time, for a product of that type whose results are
/// of type `out`, on so many SMs. m, n and k are at least 1. is_common: the epilogue has common parts
/// alone (has_common_parts()), and the tile may be one for these.
int fused_tile(Dtype dtype, const GemmSize& size, ElementType out, bool is_common,
               int multiprocessors);

}  // namespace rung::cuda
