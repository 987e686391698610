#pragma once
// SIMD code that computes the properties of a Shape from the addresses of a warp's lanes.

#include <array>
#include <cstdint>

#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// Computes all public members of `shape` from these addresses, except `mask`, which must be set
/// and not 0, `moved_by` and `generation`.
void fill_in(Shape& shape, const std::uint64_t* address);

/// The lanes with distinct numbers.
struct DistinctLanes {
  Mask first = 0;  // for each number, the first lane that has it
  /// For these lanes: the second lane with the same number, or the lane itself if it is the only
  /// one.
  std::array<std::uint8_t, warp_size> second;
};

/// The distinct addresses of a shape with narrow distances.
DistinctLanes distinct_lanes(const Shape& shape);
/// The number of distinct values of (distance + phase) >> shift.
int count_distinct(const Shape& shape, std::uint32_t phase, int shift);

}  // namespace rung::vgpu
