#include "vgpu/happens_before/async_shadow.hpp"

namespace rung::vgpu {

void AsyncShadow::start(std::uint32_t bytes, int groups, std::uint32_t unit) {
  unit_ = unit;
  slots_ = static_cast<std::uint32_t>(groups) + 2;
  const std::size_t units = bytes / unit + 1;
  written_.assign(units, 0);
  readers_.assign(units * slots_, 0);
  writes.assign(1, {});
  reads.assign(1, {});
}

}  // namespace rung::vgpu
