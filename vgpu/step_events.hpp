#pragma once
// The events of block 0 that a recorder has observed, in order.

#include <cstdint>
#include <vector>

#include "vgpu/model/access_watch.hpp"

namespace rung::vgpu {

/// A warp begins a basic block, an access, or a write by a bulk copy.
struct StepEvent {
  enum class Kind : std::uint8_t { begin, access, bulk } kind;
  int warp;
  std::uint32_t lanes;
  std::uint32_t index;  // of the basic block, or in StepEvents::accesses; bulk: offset
  std::uint32_t bytes;  // bulk
};

struct StepEvents {
  std::vector<StepEvent> all;
  std::vector<WarpAccess> accesses;
  bool complete = true;
};

}  // namespace rung::vgpu
