#pragma once
// Compares the value of a store with the contents of memory before the store: two writes of the
// same value give the same result in either order.

#include <cstddef>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

class Kernel;

/// A granule of a lane's access: `bytes` bytes at `offset` from the lane's address.
struct StoredGranule {
  const Warp& warp;
  int lane;
  std::uint32_t site;  // the store
  std::uint32_t offset;
  std::uint32_t bytes;
};

/// True if the store writes exactly the bits at `present`. False for anything but plain stores,
/// whose values are not in registers.
bool stores_present_value(const Kernel& kernel, const StoredGranule& granule,
                          const std::byte* present);

}  // namespace rung::vgpu
