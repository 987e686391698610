#pragma once
// What a Shape derives from the addresses of a warp's lanes, in SIMD code.

#include <array>
#include <cstdint>

#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// Determines what a Shape says of these addresses: all that is public but the mask, which is given
/// and not 0, `moved_by` and `generation`.
void fill_in(Shape& shape, const std::uint64_t* address);

/// For each lane, the lanes with the same number.
using EqualLanes = std::array<Mask, warp_size>;
EqualLanes equal_lanes(const std::array<std::uint32_t, warp_size>& numbers);

}  // namespace rung::vgpu
