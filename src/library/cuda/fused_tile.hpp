#pragma once
// Which tile the kernels with an epilogue take: kernels/device/cuda/library/fused_epilogue.cu.

#include "backends/cuda/limits.hpp"
#include "backends/cuda/wave_model.hpp"
#include "core/dtype.hpp"
#include "rung/epilogue_kinds.hpp"

namespace rung::cuda {

/// The tile with the least expected time among those for all parts, and the splits of its last wave, for a
/// product of that type whose results, gated or not, are of type `out`. m, n and k are at least 1.
GemmConfig fused_config(Dtype dtype, const GemmSize& size, ElementType out, bool gated,
                        const OddRows& odd_rows, const Limits& limits);

/// The same among the tiles for common parts (has_common_parts()).
GemmConfig common_config(Dtype dtype, const GemmSize& size, const OddRows& odd_rows,
                         const Limits& limits);

}  // namespace rung::cuda
