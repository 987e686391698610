#pragma once
// What a recorder has seen of block 0, in order.

#include <cstdint>
#include <vector>

#include "vgpu/model/access_watch.hpp"

namespace rung::vgpu {

/// A basic block that a warp begins, an access, or a write by a bulk copy.
struct StepEvent {
  enum class Kind : std::uint8_t { begin, access, bulk } kind;
  int warp;
  std::uint32_t lanes;
  std::uint32_t index;  // of the basic block, or in StepEvents::accesses; bulk: the offset
  std::uint32_t bytes;  // bulk
};

struct StepEvents {
  std::vector<StepEvent> all;
  std::vector<WarpAccess> accesses;
  bool complete = true;
};

}  // namespace rung::vgpu
