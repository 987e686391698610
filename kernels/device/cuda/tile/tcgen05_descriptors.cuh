#pragma once
// The descriptors of tcgen05.mma: data that say what an instruction multiplies, so that one
// instruction serves every layout of A and B.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung::cuda {

/// Describes 16 k-steps from k of all rows or columns of a SwizzledTile of 16-bit elements.
/// `tile` is a shared-memory address.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#tcgen05-shared-memory-descriptor
__device__ __forceinline__ std::uint64_t tcgen05_matrix(std::uint32_t tile, bool k_major, int k) {
  // As for wgmma, and bit 46 is set. The number of rows is no part of either.
  constexpr std::uint64_t version = 1;
  return (k_major ? SwizzledTile<64, true>::descriptor(tile, 0, k)
                  : SwizzledTile<64, false>::descriptor(tile, 0, k)) |
         version << 46;
}

/// Describes a product of m rows and n columns of bfloat16, with sums in float.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#tcgen05-instruction-descriptor
constexpr std::uint32_t tcgen05_form(int m, int n, bool a_k_major, bool b_k_major) {
  constexpr std::uint32_t f32 = 1, bf16 = 1;
  return f32 << 4 | bf16 << 7 | bf16 << 10 | (a_k_major ? 0u : 1u << 15) |
         (b_k_major ? 0u : 1u << 16) | static_cast<std::uint32_t>(n / 8) << 17 |
         static_cast<std::uint32_t>(m / 16) << 24;
}

}  // namespace rung::cuda
