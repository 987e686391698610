#pragma once
// Loads a tile by several blocks of a cluster: each loads a share, and multicasts it to all of them.

#include <cstdint>

#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"

namespace rung::cuda {

/// The rows or columns of each of SHARERS shares of EXTENT: whole swizzle patterns of 8.
template <int EXTENT, int SHARERS>
constexpr int rows_of_share() {
  return (EXTENT + 8 * SHARERS - 1) / (8 * SHARERS) * 8;
}

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
template <int EXTENT, int SHARERS>
void load_share(int share, std::uint32_t tile, const EncodedTensorMap& map, bool k_major, int e,
                int k, std::uint32_t full, int rows, std::int64_t extent);

#else

/// Loads share number `share` of SHARERS, the blocks of a cluster, of a tile into all of them: in
/// boxes of `rows` rows if it is K-major. The tile's first box takes the place of boxes outside the
/// `extent` rows of the operand. A share of an MN-major tile consists of whole boxes of 64, and may
/// be empty.
template <int EXTENT, int SHARERS>
__device__ __forceinline__ void load_share(int share, std::uint32_t tile,
                                           const EncodedTensorMap& map, bool k_major, int e, int k,
                                           std::uint32_t full, int rows, std::int64_t extent) {
  if constexpr (SHARERS == 1) {
    load_boxes<EXTENT>(tile, map, k_major, e, k, full, rows, extent);
  } else {
    constexpr int ROWS = rows_of_share<EXTENT, SHARERS>();
    constexpr std::uint16_t all = (1 << SHARERS) - 1;
    if (k_major) {
      RUNG_NO_UNROLL
      for (int row = share * ROWS; row < (share + 1) * ROWS; row += rows) {
        ptx::tma_load_2d_multicast(tile + row * 128, &map, k, e + row < extent ? e + row : e, full,
                                   all);
      }
      return;
    }
    RUNG_UNROLL
    for (int box = 0; box < EXTENT; box += 64) {
      if (box / 64 % SHARERS != share) continue;
      ptx::tma_load_2d_multicast(tile + box * 128, &map, e + box, k, full, all);
    }
  }
}

#endif

}  // namespace rung::cuda
