#pragma once
// Tiles that the library chooses by themselves, by their numbers at the end of the kernels' files.

#include "device/cuda/library/fused_epilogue.hpp"

namespace rung::cuda {

/// Of device/cuda/library/fused_epilogue.cu, those whose two consumers have tiles of C in turn; the
/// last one is for common parts alone.
namespace fused_tile {
inline constexpr int in_turn = 3, flat_in_turn = 4, common_in_turn = first_common_tile;
}

/// Of device/cuda/library/few_rows.cu: narrow or wide for a K-major B, and for another one.
namespace few_rows_tile {
inline constexpr int narrow = 0, wide = 1, mn_major = 2;
}

/// Of device/cuda/library/summed_parts.cu.
namespace summed_tile {
inline constexpr int wide = 0, medium = 1;
}

/// Of gemm/cuda/63_grouped.cu, that which sums parts of k.
namespace grouped_tile {
inline constexpr int in_parts = 2;
}

}  // namespace rung::cuda
