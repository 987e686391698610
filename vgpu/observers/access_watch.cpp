#include "vgpu/observers/access_watch.hpp"

#include <mutex>

namespace rung::vgpu {

void tell_access(const Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                 std::int64_t offset, std::uint32_t bytes, AccessKind kind, bool shared) {
  WarpAccess access;
  access.block = block.linear;
  access.warp = warp.index;
  access.site = site;
  access.shared = shared;
  access.load = kind == AccessKind::load;
  access.lanes = shape.mask;
  access.bytes = bytes;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    access.address[static_cast<std::size_t>(lane)] =
        shape.address(lane) + static_cast<std::uint64_t>(offset);
  }
  access.units =
      shared ? shape.wavefronts(bytes, offset, access.load) : shape.sectors(bytes, offset);
  LaunchState& launch = block.worker.launch;
  const std::lock_guard lock(launch.watching);
  launch.options.watcher(access);
}

}  // namespace rung::vgpu
