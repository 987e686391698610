#include "vgpu/happens_before/async_order.hpp"

#include <algorithm>

namespace rung::vgpu {

void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

void AsyncOrder::start(int ranks, int warps) {
  warps_ = warps;
  clocks_.assign(at(ranks * warps), Clock(base(ranks), 0));
}

}  // namespace rung::vgpu
