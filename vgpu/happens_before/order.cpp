#include "vgpu/happens_before/order.hpp"

#include <algorithm>
#include <numeric>

namespace rung::vgpu {

void Order::start(int warps) {
  warps_ = warps;
  now_ = 0;
  segment_.resize(warps);
  for (std::uint32_t& segment : segment_) segment = next();
  for (Knowledge* const known : {&shared_, &device_}) {
    known->base.assign(warps, 0);
    known->seen.assign(static_cast<std::size_t>(warps) * warps, 0);
    known->lanes_met = segment_;
  }
}

void Order::synchronize_all(OrderedMemory memory) {
  const std::uint32_t before = now_;
  for (std::uint32_t& segment : segment_) segment = next();
  const auto learn = [&](Knowledge& known) {
    std::fill(known.base.begin(), known.base.end(), before);
    known.lanes_met = segment_;
  };
  if (memory.shared) learn(shared_);
  if (memory.device) learn(device_);
}

void Order::meet(Knowledge& known, const std::vector<Arrival>& arrived,
                 const std::vector<int>& waited) const {
  std::uint32_t base = 0;
  std::vector<std::uint32_t> joined(warps_, 0);
  for (const auto& [warp, segment] : arrived) {
    base = std::max(base, known.base[warp]);
    for (int other = 0; other < warps_; ++other) {
      joined[other] = std::max(joined[other], known.seen[warp * warps_ + other]);
    }
    joined[warp] = std::max(joined[warp], segment);
  }
  for (const int warp : waited) {
    known.base[warp] = std::max(known.base[warp], base);
    for (int other = 0; other < warps_; ++other) {
      std::uint32_t& seen = known.seen[warp * warps_ + other];
      seen = std::max(seen, joined[other]);
    }
  }
}

void Order::meet(const std::vector<Arrival>& arrived, const std::vector<int>& waited,
                 OrderedMemory memory) {
  if (memory.shared) meet(shared_, arrived, waited);
  if (memory.device) meet(device_, arrived, waited);
  for (const int warp : waited) synchronize_lanes(warp, memory);
}

}  // namespace rung::vgpu
