#include "vgpu/happens_before/grid_order.hpp"

#include <algorithm>

namespace rung::vgpu {
namespace {

// The longest chain of releases and acquires, from block to block, that is followed.
constexpr int longest_chain = 16;

}  // namespace

void join(Acquired& acquired, const Acquired& other) {
  for (const auto& [address, count] : other) {
    std::size_t& known = acquired[address];
    known = std::max(known, count);
  }
}

void join(Release& release, const Release& other) {
  if (release.times.empty()) release.times.assign(other.times.size(), 0);
  for (std::size_t i = 0; i < other.times.size(); ++i) {
    release.times[i] = std::max(release.times[i], other.times[i]);
  }
  join(release.acquired, other.acquired);
}

void GridOrder::release(std::uint64_t address, std::uint64_t block, const Release& shown) {
  const std::lock_guard lock(mutex_);
  Log& log = logs_[address];
  Release release = shown;
  release.acquired.erase(address);  // earlier releases here come before this one in any case
  std::vector<std::size_t>& own = log.by_block[block];
  if (!own.empty() && log.releases[own.back()] == release) return;  // a loop of atomics
  const std::size_t index = log.releases.size();
  own.push_back(index);
  if (!release.acquired.empty()) log.with_acquired.push_back(index);
  if (index == 0 || log.last_block != block) {
    log.last_block = block;
    log.last_begin = index;
  }
  log.releases.push_back(std::move(release));
}

std::size_t GridOrder::releases(std::uint64_t address, std::uint64_t block) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(address);
  if (found == logs_.end()) return 0;
  const Log& log = found->second;
  return log.last_block == block ? log.last_begin : log.releases.size();
}

bool GridOrder::knows(const Acquired& acquired, std::uint64_t block, int warp,
                      std::uint32_t time) const {
  const std::lock_guard lock(mutex_);
  return knows(acquired, block, warp, time, longest_chain);
}

bool GridOrder::knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time,
                      int depth) const {
  if (depth == 0) return false;
  for (const auto& [address, count] : acquired) {
    const auto found = logs_.find(address);
    if (found == logs_.end()) continue;
    const Log& log = found->second;
    if (const auto own = log.by_block.find(block); own != log.by_block.end()) {
      // Later releases include more.
      for (auto index = own->second.rbegin(); index != own->second.rend(); ++index) {
        const auto& times = log.releases[*index].times;
        if (*index < count && times[static_cast<std::size_t>(warp)] >= time) return true;
      }
    }
    for (const std::size_t index : log.with_acquired) {
      const Acquired& further = log.releases[index].acquired;
      if (index < count && knows(further, block, warp, time, depth - 1)) return true;
    }
  }
  return false;
}

}  // namespace rung::vgpu
