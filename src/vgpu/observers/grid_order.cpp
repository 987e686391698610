#include "vgpu/observers/grid_order.hpp"

#include <algorithm>

namespace rung::vgpu {
namespace {

// How far to follow a chain of addresses: block to block to block.
constexpr int longest_chain = 16;

}  // namespace

void GridOrder::synchronise(std::uint64_t address, std::uint64_t block, std::uint32_t time,
                            const Acquired& known_at_fence, bool acquires, Acquired& acquired) {
  const std::lock_guard lock(mutex_);
  Log& log = logs_[address];
  if (acquires) acquired[address] = std::max(acquired[address], log.releases.size());
  if (time == 0) return;
  Acquired others = known_at_fence;
  others.erase(address);  // earlier releases here come before this one in any case
  const std::size_t index = log.releases.size();
  log.by_block[block].emplace_back(index, time);
  if (!others.empty()) log.with_acquired.push_back(index);
  log.releases.push_back({block, time, std::move(others)});
}

bool GridOrder::knows(const Acquired& acquired, std::uint64_t block, std::uint32_t time) const {
  const std::lock_guard lock(mutex_);
  return knows(acquired, block, time, longest_chain);
}

bool GridOrder::knows(const Acquired& acquired, std::uint64_t block, std::uint32_t time,
                      int depth) const {
  if (depth == 0) return false;
  for (const auto& [address, count] : acquired) {
    const auto found = logs_.find(address);
    if (found == logs_.end()) continue;
    const Log& log = found->second;
    if (const auto own = log.by_block.find(block); own != log.by_block.end()) {
      for (const auto& [index, released] : own->second) {
        if (index < count && released >= time) return true;
      }
    }
    for (const std::size_t index : log.with_acquired) {
      if (index < count && knows(log.releases[index].acquired, block, time, depth - 1)) return true;
    }
  }
  return false;
}

}  // namespace rung::vgpu
