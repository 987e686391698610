#include "vgpu/observers/order.hpp"

#include <algorithm>
#include <numeric>

namespace rung::vgpu {

void Order::start(int warps) {
  warps_ = warps;
  now_ = 0;
  base_.assign(warps, 0);
  seen_.assign(static_cast<std::size_t>(warps) * warps, 0);
  segment_.resize(warps);
  for (std::uint32_t& segment : segment_) segment = next();
  lanes_met_ = segment_;
}

bool Order::ordered(Stamp stamp, int thread) const {
  const std::uint32_t time = stamp_time(stamp);
  if (time == pending_time) return false;
  const int warp = thread / warp_size;
  if (time <= base_[warp] || stamp_thread(stamp) == thread) return true;
  const int other = stamp_thread(stamp) / warp_size;
  if (other == warp) return time < lanes_met_[warp];
  return time <= seen_[warp * warps_ + other];
}

void Order::meet_all() {
  std::fill(base_.begin(), base_.end(), now_);
  for (std::uint32_t& segment : segment_) segment = next();
  lanes_met_ = segment_;
}

void Order::meet(const std::vector<int>& arrived, const std::vector<int>& waited) {
  std::uint32_t base = 0;
  std::vector<std::uint32_t> joined(warps_, 0);
  for (const int warp : arrived) {
    base = std::max(base, base_[warp]);
    for (int other = 0; other < warps_; ++other) {
      joined[other] = std::max(joined[other], seen(warp, other));
    }
    joined[warp] = std::max(joined[warp], segment_[warp]);
  }
  for (const int warp : waited) {
    base_[warp] = std::max(base_[warp], base);
    for (int other = 0; other < warps_; ++other) {
      seen(warp, other) = std::max(seen(warp, other), joined[other]);
    }
  }
  for (const int warp : arrived) segment_[warp] = lanes_met_[warp] = next();
}

}  // namespace rung::vgpu
