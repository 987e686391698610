#pragma once
// Calls the launch's watcher for an access (model/access_watch.hpp).

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// `offset` is added to the shape's addresses to get the addresses of the access or, for shared
/// memory, offsets in it.
void tell_access(const Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                 std::int64_t offset, std::uint32_t bytes, AccessKind kind, bool shared);

}  // namespace rung::vgpu
