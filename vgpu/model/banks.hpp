#pragma once
// The model of the 32 four-byte banks of shared memory, and of the sectors of global memory.

#include <array>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Wavefronts of an access to shared memory. Lanes are served in groups: the whole warp for up to
/// four bytes per lane, half a warp for eight, a quarter for sixteen. Loads serve two such groups
/// together if lanes share addresses in pairs. Each group takes as many wavefronts as its busiest
/// bank has distinct words. Measured on an H200 (vgpu/tests/banks_test.cpp).
int shared_wavefronts(const std::array<std::uint64_t, warp_size>& address, Mask mask,
                      std::uint32_t bytes, std::int64_t offset, bool load);

inline constexpr std::uint64_t sector_bytes = 32;

/// Sectors of an access to global memory.
int global_sectors(const std::array<std::uint64_t, warp_size>& address, Mask mask,
                   std::uint32_t bytes, std::int64_t offset);

}  // namespace rung::vgpu
