#pragma once
// Compares what a store is about to write with what memory holds: two writes of the same value give
// the same result in either order.

#include <cstddef>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

class Kernel;

/// A granule of a lane's access: `bytes` bytes, `offset` bytes from the lane's address.
struct StoredGranule {
  const Warp& warp;
  int lane;
  std::uint32_t site;  // of the store
  std::uint32_t offset;
  std::uint32_t bytes;
};

/// Whether the store writes there, bit for bit, what is at `present`. False for what is no plain
/// store: its values are in no registers.
bool stores_present_value(const Kernel& kernel, const StoredGranule& granule,
                          const std::byte* present);

}  // namespace rung::vgpu
