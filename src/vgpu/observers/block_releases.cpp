#include "vgpu/observers/block_releases.hpp"

#include <algorithm>

#include "vgpu/engine/execution/block.hpp"

namespace rung::vgpu {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

void BlockReleases::start(int warps) {
  acquired_.clear();
  observed_.assign(at(warps), {});
  fenced_.assign(at(warps), {});
}

void BlockReleases::fence(Warp& warp) {
  for (const auto& [address, count] : observed_[at(warp.index)]) acquire(warp, address, count);
  observed_[at(warp.index)].clear();
  prepare(warp);
}

void BlockReleases::prepare(Warp& warp) {
  Order& order = warp.block->order;
  Release known;
  known.acquired = acquired(order, warp.block->thread(warp, first_lane(warp.mask)));
  for (const Warp& other : warp.block->warps) {
    known.times.push_back(order.known_in_device_memory(warp.index, other.index));
  }
  join(fenced_[at(warp.index)], known);
  order.advance(warp.index);  // what comes later is not shown
}

void BlockReleases::publish(const Warp& warp, std::uint64_t address, GridOrder& order) const {
  const Release& fenced = fenced_[at(warp.index)];
  if (!fenced.times.empty()) order.release(address, warp.block->linear, fenced);
}

void BlockReleases::observe(Warp& warp, std::uint64_t address, bool acquires,
                            const GridOrder& order) {
  const std::size_t count = order.releases(address, warp.block->linear);
  if (count == 0) return;
  if (acquires) {
    acquire(warp, address, count);
  } else {
    observed_[at(warp.index)][address] = count;
  }
}

void BlockReleases::acquire(const Warp& warp, std::uint64_t address, std::size_t count) {
  const Block& block = *warp.block;
  std::vector<Acquisition>& here = acquired_[address];
  const int thread = block.thread(warp, first_lane(warp.mask));
  const Acquisition now = {count, make_stamp(block.order.segment(warp.index), thread), warp.mask};
  // A loop that polls finds mostly the same.
  const bool again = !here.empty() && here.back().count == count &&
                     here.back().lanes == now.lanes && stamp_thread(here.back().stamp) == thread;
  if (!again) here.push_back(now);
}

bool BlockReleases::is_behind(const Order& order, int thread, const Acquisition& acquisition) {
  const bool same_warp = stamp_thread(acquisition.stamp) / warp_size == thread / warp_size;
  const bool took_part = same_warp && (acquisition.lanes >> thread % warp_size & 1u) != 0;
  return took_part || order.ordered_in_device_memory(acquisition.stamp, thread);
}

bool BlockReleases::has_acquired(const Order& order, int thread, std::uint64_t address) const {
  const auto found = acquired_.find(address);
  return found != acquired_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const Acquisition& each) { return is_behind(order, thread, each); });
}

Acquired BlockReleases::acquired(const Order& order, int thread) const {
  Acquired result;
  for (const auto& [address, acquisitions] : acquired_) {
    // Later ones count more.
    const auto latest =
        std::find_if(acquisitions.rbegin(), acquisitions.rend(),
                     [&](const Acquisition& each) { return is_behind(order, thread, each); });
    if (latest != acquisitions.rend()) result[address] = latest->count;
  }
  return result;
}

void BlockReleases::meet(const Barrier& done) {
  Release all;
  for (const Arrival& arrival : done.arrived) join(all, fenced_[at(arrival.warp)]);
  if (all.times.empty()) return;
  for (const Barrier::Waiter& waiter : done.waiting) join(fenced_[at(waiter.warp)], all);
}

void BlockReleases::settle() {
  for (auto& [address, acquisitions] : acquired_) {
    for (Acquisition& each : acquisitions) each.stamp = make_stamp(0, stamp_thread(each.stamp));
  }
}

}  // namespace rung::vgpu
