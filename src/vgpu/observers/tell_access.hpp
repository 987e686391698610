#pragma once
// The engine's side of access_watch.hpp.

#include <atomic>

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// Whether there is a watcher; the only cost of an access without one.
extern std::atomic<bool> accesses_watched;

/// `offset`: from the shape's addresses to those of the access or, for shared memory, to offsets in
/// it.
void tell_access(const Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                 std::int64_t offset, std::uint32_t bytes, AccessKind kind, bool shared);

}  // namespace rung::vgpu
