#include "vgpu/happens_before/async_order.hpp"

#include <algorithm>

namespace rung::vgpu {

void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

void AsyncOrder::join_tensor(Clock& clock, const Clock& other) const {
  for (std::size_t i = base(ranks_); i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

void AsyncOrder::start(int ranks, int warps, bool has_tensor_memory) {
  warps_ = warps;
  ranks_ = ranks;
  clocks_.assign(at(ranks * warps), Clock(has_tensor_memory ? tensor_base(ranks) : base(ranks), 0));
}

}  // namespace rung::vgpu
