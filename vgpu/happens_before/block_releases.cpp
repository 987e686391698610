#include "vgpu/happens_before/block_releases.hpp"

#include <algorithm>

namespace rung::vgpu {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The thread that represents the warp's active lanes.
int first_thread(const Warp& warp) { return warp.index * warp_size + first_lane(warp.mask); }

}  // namespace

void BlockReleases::start(Order& order, std::uint64_t block, int warps) {
  order_ = &order;
  block_ = block;
  if (fenced_.size() == at(warps) && !used_) return;  // the common case
  used_ = false;
  acquired_.clear();
  observed_.assign(at(warps), {});
  own_.assign(at(warps), {});
  fenced_.assign(at(warps), {});
  fenced_times_.clear();
  fenced_acquired_.clear();
}

void BlockReleases::fence(const Warp& warp, const GridOrder& order) {
  for (const auto& [address, count] : observed_[at(warp.index)]) {
    acquire_own(warp, address, order);
    if (count != 0) acquire(warp, address, count);
  }
  observed_[at(warp.index)].clear();
  prepare(warp);
}

void BlockReleases::prepare(const Warp& warp) {
  used_ = true;
  join(fenced_[at(warp.index)],
       {known_times(warp), acquired(first_thread(warp)), fenced_times_, fenced_acquired_});
  order_->advance(warp.index);  // the release excludes later work
}

void BlockReleases::fence_proxy(const Warp& warp) {
  used_ = true;
  join_times(fenced_times_, known_times(warp));
  join(fenced_acquired_, acquired(first_thread(warp)));
  order_->advance(warp.index);  // the fence excludes later work
}

std::vector<std::uint32_t> BlockReleases::known_times(const Warp& warp) const {
  std::vector<std::uint32_t> times;
  for (std::size_t other = 0; other < fenced_.size(); ++other) {
    times.push_back(order_->known_in_device_memory(warp.index, static_cast<int>(other)));
  }
  return times;
}

void BlockReleases::publish(const Warp& warp, std::uint64_t address, GridOrder& order) const {
  const Release& fenced = fenced_[at(warp.index)];
  if (!fenced.times.empty()) order.release(address, block_, fenced);
}

bool BlockReleases::has_fenced(const Warp& warp) const {
  return !fenced_[at(warp.index)].times.empty();
}

void BlockReleases::observe(const Warp& warp, std::uint64_t address, bool acquires,
                            const GridOrder& order) {
  used_ = true;
  const std::size_t count = order.releases(address, block_);
  if (!acquires) {
    observed_[at(warp.index)][address] = count;
    return;
  }
  acquire_own(warp, address, order);
  if (count != 0) acquire(warp, address, count);
}

void BlockReleases::acquire_own(const Warp& warp, std::uint64_t address, const GridOrder& order) {
  std::size_t& known = own_[at(warp.index)][address];
  const auto released = order.released(address, block_, known);
  if (!released) return;
  known = released->count;
  for (std::size_t other = 0; other < released->all.times.size(); ++other) {
    order_->learn(warp.index, static_cast<int>(other), released->all.times[other]);
  }
  for (const auto& [further, count] : released->all.acquired) acquire(warp, further, count);
}

void BlockReleases::acquire(const Warp& warp, std::uint64_t address, std::size_t count) {
  std::vector<Acquisition>& here = acquired_[address];
  const int thread = first_thread(warp);
  const Acquisition now = {count, make_stamp(order_->segment(warp.index), thread), warp.mask};
  // A polling loop usually reads the same releases again.
  const bool again = !here.empty() && here.back().count == count &&
                     here.back().lanes == now.lanes && stamp_thread(here.back().stamp) == thread;
  if (!again) here.push_back(now);
}

bool BlockReleases::is_ordered_after(int thread, const Acquisition& acquisition) const {
  const bool same_warp = stamp_thread(acquisition.stamp) / warp_size == thread / warp_size;
  const bool took_part = same_warp && (acquisition.lanes >> thread % warp_size & 1u) != 0;
  return took_part || order_->ordered_in_device_memory(acquisition.stamp, thread);
}

bool BlockReleases::has_acquired(int thread, std::uint64_t address) const {
  const auto found = acquired_.find(address);
  return found != acquired_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const Acquisition& each) { return is_ordered_after(thread, each); });
}

Acquired BlockReleases::acquired(int thread) const {
  Acquired result;
  for (const auto& [address, acquisitions] : acquired_) {
    // Later acquires include more releases.
    const auto latest =
        std::find_if(acquisitions.rbegin(), acquisitions.rend(),
                     [&](const Acquisition& each) { return is_ordered_after(thread, each); });
    if (latest != acquisitions.rend()) result[address] = latest->count;
  }
  return result;
}

void BlockReleases::meet(const std::vector<Arrival>& arrived, const std::vector<int>& waited) {
  Release all;
  for (const Arrival& arrival : arrived) join(all, fenced_[at(arrival.warp)]);
  if (all.times.empty()) return;
  for (const int warp : waited) join(fenced_[at(warp)], all);
}

void BlockReleases::settle() {
  for (auto& [address, acquisitions] : acquired_) {
    for (Acquisition& each : acquisitions) each.stamp = make_stamp(0, stamp_thread(each.stamp));
  }
}

}  // namespace rung::vgpu
