#pragma once
// The model of shared memory's 32 banks of four bytes, and of global memory's sectors.

#include <array>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Wavefronts of an access to shared memory. Lanes are served together: the whole warp for up to
/// four bytes per lane, half a warp for eight, a quarter for sixteen; loads serve two such groups
/// at once if lanes share addresses pairwise. Each group takes as many wavefronts as its busiest
/// bank has different words. Measured on an H200 (tests/vgpu/banks_test.cpp).
int shared_wavefronts(const std::array<std::uint64_t, warp_size>& address, Mask mask,
                      std::uint32_t bytes, std::int64_t offset, bool load);

inline constexpr std::uint64_t sector_bytes = 32;

/// Sectors of an access to global memory.
int global_sectors(const std::array<std::uint64_t, warp_size>& address, Mask mask,
                   std::uint32_t bytes, std::int64_t offset);

}  // namespace rung::vgpu
