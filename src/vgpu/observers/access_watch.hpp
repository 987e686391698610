#pragma once
// Tells the launch's watcher of an access (model/access_watch.hpp).

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// `offset`: from the shape's addresses to those of the access, or in shared memory to its place
/// there.
void tell_access(const Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                 std::int64_t offset, std::uint32_t bytes, AccessKind kind, bool shared);

}  // namespace rung::vgpu
