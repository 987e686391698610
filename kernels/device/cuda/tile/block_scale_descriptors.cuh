#pragma once
// The descriptors of tcgen05.mma and tcgen05.cp for operands in a block format.

#include <cstdint>

#include "core/block_format.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung::cuda {

/// Describes 32 bytes of k-steps from byte `first` of all rows of a K-major tile whose rows have 128
/// bytes. `tile` is a shared-memory address.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#tcgen05-shared-memory-descriptor
__device__ __forceinline__ std::uint64_t tcgen05_bytes(std::uint32_t tile, int first) {
  constexpr std::uint64_t version = 1;
  return SwizzledTile<64, true, 1>::descriptor(tile, 0, first) | version << 46;
}

/// Describes a ScaleTile: 32 rows of 16 bytes without a swizzle, the next 8 after 128 bytes.
__device__ __forceinline__ std::uint64_t tcgen05_scales(std::uint32_t tile) {
  constexpr std::uint64_t eight_rows = 128 / 16, version = 1;
  return (tile & 0x3FFFF) >> 4 | eight_rows << 32 | version << 46;
}

/// Describes a product of m rows and n columns in a block format, with sums in float. Its first scale
/// is byte `scale` of a cell.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#tcgen05-instruction-descriptor
constexpr std::uint32_t tcgen05_scaled_form(BlockFormat format, int m, int n, int scale = 0) {
  const bool is_mxfp8 = format == BlockFormat::mxfp8;
  const std::uint32_t type = is_mxfp8 ? 0 : 1;  // e4m3; e2m1
  const std::uint32_t e8m0 = is_mxfp8 ? 1 : 0;  // otherwise scales are e4m3
  const auto byte = static_cast<std::uint32_t>(scale);
  return byte << 4 | type << 7 | type << 10 | static_cast<std::uint32_t>(n / 8) << 17 | e8m0 << 23 |
         static_cast<std::uint32_t>(m / 16) << 24 | byte << 29;
}

}  // namespace rung::cuda
