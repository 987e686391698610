#include "vgpu/happens_before/grid_order.hpp"

#include <algorithm>

namespace rung::vgpu {
namespace {

// Maximum length of a chain of releases and acquires from block to block that is followed.
constexpr int longest_chain = 16;

}  // namespace

void join(Acquired& acquired, const Acquired& other) {
  for (const auto& [address, count] : other) {
    std::size_t& known = acquired[address];
    known = std::max(known, count);
  }
}

void join_times(std::vector<std::uint32_t>& times, const std::vector<std::uint32_t>& other) {
  if (times.empty()) times.assign(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i) times[i] = std::max(times[i], other[i]);
}

void join(Release& release, const Release& other) {
  join_times(release.times, other.times);
  join(release.acquired, other.acquired);
  join_times(release.fenced_times, other.fenced_times);
  join(release.fenced, other.fenced);
}

void GridOrder::release(std::uint64_t address, std::uint64_t block, const Release& shown) {
  const std::lock_guard lock(mutex_);
  Log& log = logs_[address];
  Release release = shown;
  release.acquired.erase(address);  // earlier releases at this address precede this one anyway
  release.fenced.erase(address);
  std::vector<std::size_t>& own = log.by_block[block];
  if (!own.empty() && log.releases[own.back()] == release) return;  // a loop of atomics
  const std::size_t index = log.releases.size();
  own.push_back(index);
  Released& all = log.all_by_block[block];
  ++all.count;
  join(all.all, release);
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

std::optional<GridOrder::Released> GridOrder::released(std::uint64_t address, std::uint64_t block,
                                                       std::size_t known) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(address);
  if (found == logs_.end()) return std::nullopt;
  const auto own = found->second.all_by_block.find(block);
  if (own == found->second.all_by_block.end() || own->second.count <= known) return std::nullopt;
  return own->second;
}

bool GridOrder::knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time,
                      Proxy proxy) const {
  const std::lock_guard lock(mutex_);
  return knows(acquired, block, warp, time, proxy, longest_chain);
}

bool GridOrder::knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time,
                      Proxy proxy, int depth) const {
  if (depth == 0) return false;
  for (const auto& [address, count] : acquired) {
    const auto found = logs_.find(address);
    if (found == logs_.end()) continue;
    const Log& log = found->second;
    if (const auto own = log.by_block.find(block); own != log.by_block.end()) {
      // Later releases include the earlier ones.
      for (auto index = own->second.rbegin(); index != own->second.rend(); ++index) {
        const Release& release = log.releases[*index];
        const auto& times = proxy == Proxy::generic ? release.times : release.fenced_times;
        const auto at = static_cast<std::size_t>(warp);
        if (*index < count && at < times.size() && times[at] >= time) return true;
      }
    }
    for (const std::size_t index : log.with_acquired) {
      const Release& further = log.releases[index];
      if (index >= count) continue;
      if (knows(further.acquired, block, warp, time, proxy, depth - 1)) return true;
      if (proxy == Proxy::async &&
          knows(further.fenced, block, warp, time, Proxy::generic, depth - 1)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace rung::vgpu
