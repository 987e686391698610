#pragma once
// What a Shape derives from the addresses of a warp's lanes, in SIMD code.

#include <array>
#include <cstdint>

#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// Determines what a Shape says of these addresses: all that is public but the mask, which is given
/// and not 0, `moved_by` and `generation`.
void fill_in(Shape& shape, const std::uint64_t* address);

/// The distinct numbers of some lanes.
struct DistinctLanes {
  Mask first = 0;  // the first lane that has a number, for each number
  /// For these lanes: the second that has it, or the same lane if there is none.
  std::array<std::uint8_t, warp_size> second;
};

/// The distinct addresses of a shape whose distances are narrow.
DistinctLanes distinct_lanes(const Shape& shape);
/// How many distinct numbers (distance + phase) >> shift its lanes have.
int count_distinct(const Shape& shape, std::uint32_t phase, int shift);

}  // namespace rung::vgpu
