#pragma once
// Shared memory: 32 banks of four bytes. Which lanes are served together, and in how many passes.

#include <array>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Passes ("wavefronts") that an access to shared memory takes. Lanes are served together: all of
/// the warp for up to four bytes a lane, half a warp for eight, a quarter for sixteen; loads of two
/// such groups in one where lanes share addresses pair by pair. Each group takes as many passes as
/// its busiest bank has different words. Found by measuring on an H200 (tests/vgpu/banks_test.cpp).
int shared_wavefronts(const std::array<std::uint64_t, warp_size>& address, Mask mask,
                      std::uint32_t bytes, std::int64_t offset, bool load);

inline constexpr std::uint64_t sector_bytes = 32;

/// Sectors that an access to global memory touches.
int global_sectors(const std::array<std::uint64_t, warp_size>& address, Mask mask,
                   std::uint32_t bytes, std::int64_t offset);

}  // namespace rung::vgpu
