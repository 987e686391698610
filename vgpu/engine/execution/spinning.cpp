#include "vgpu/engine/execution/spinning.hpp"

#include <algorithm>
#include <vector>

#include "vgpu/engine/execution/block.hpp"

namespace rung::vgpu {
namespace {

/// After this number of equal states, a cluster counts as spinning.
constexpr std::uint32_t least_recurrences = 16;

std::size_t index_of(int block) { return static_cast<std::size_t>(block); }

std::vector<int> successors(const BasicBlock& block) {
  std::vector<int> to = block.targets;
  if (block.taken >= 0) to.push_back(block.taken);
  if (block.next >= 0) to.push_back(block.next);
  return to;
}

/// The basic blocks reachable from `start` without entering `avoided`.
std::vector<bool> reachable(const Kernel& kernel, int start, int avoided) {
  std::vector<bool> seen(kernel.blocks.size(), false);
  std::vector<int> left = {start};
  while (!left.empty()) {
    const int block = left.back();
    left.pop_back();
    if (block == avoided || seen[index_of(block)]) continue;
    seen[index_of(block)] = true;
    for (const int to : successors(kernel.blocks[index_of(block)])) left.push_back(to);
  }
  return seen;
}

/// True for an atomic, or a load that waits for other threads and not for the host.
bool polls(const Site& site, bool with_loads) {
  const auto has = [&](const char* qualifier) {
    return site.mnemonic.find(qualifier) != std::string::npos;
  };
  switch (site.role) {
    case SiteRole::global_atomic:
    case SiteRole::shared_atomic: return true;
    case SiteRole::global_load:
    case SiteRole::shared_load:
      return with_loads && (has("volatile") || has("relaxed") || has("acquire"));
    default: return false;
  }
}

/// The first such instruction of the loop that the split runs in; no_site without one.
std::uint32_t poll_of_loop(const Kernel& kernel, const Split& split, bool with_loads) {
  const std::vector<bool> ahead = reachable(kernel, split.block, split.reconverge);
  for (std::uint32_t site = 0; site < kernel.sites.size(); ++site) {
    const std::uint32_t block = kernel.block_of_site[site];
    if (block >= ahead.size() || !ahead[block] || !polls(kernel.sites[site], with_loads)) {
      continue;
    }
    const auto back = reachable(kernel, static_cast<int>(block), split.reconverge);
    if (back[index_of(split.block)]) return site;
  }
  return Kernel::no_site;
}

/// Lanes that have arrived where the split or one of its parents reconverges.
Mask waiting_for(const Warp& warp, const Split& split) {
  Mask waiting = 0;
  for (int above = split.parent; above >= 0; above = warp.splits[index_of(above)].parent) {
    waiting |= warp.splits[index_of(above)].arrived & warp.live;
  }
  return waiting;
}

}  // namespace

std::optional<LanesInTurn> lanes_in_turn(const Block& block) {
  const std::vector<Allocation> allocations = block.worker.launch.memory.live();
  const bool host_writes = std::ranges::any_of(allocations, &Allocation::host);
  for (const Warp& warp : block.warps) {
    if (warp.live == 0) continue;
    for (const Split& split : warp.splits) {
      if (split.state != Split::State::ready) continue;
      const Mask waiting = waiting_for(warp, split);
      if (waiting == 0) continue;
      const std::uint32_t site = poll_of_loop(block.worker.kernel, split, !host_writes);
      if (site != Kernel::no_site) return LanesInTurn{&warp, waiting, split.mask, site};
    }
  }
  return std::nullopt;
}

void Spinning::change() {
  ++epoch_;
  confirmed_ = 0;
}

void Spinning::start() {
  const std::lock_guard lock(mutex_);
  ++running_;
  change();
}

void Spinning::end() {
  const std::lock_guard lock(mutex_);
  --running_;
  change();
}

bool Spinning::all_spin(TurnStates& states, std::size_t state) {
  const std::lock_guard lock(mutex_);
  ++states.turns;
  // Brent's algorithm: the reference is replaced after 1, 2, 4, … turns without a recurrence.
  if (state != states.reference) {
    if (states.turns < states.period) return false;
    if (states.spins) change();
    states = {state, 0, 2 * states.period, 0, false, 0};
    return false;
  }
  states.turns = 0;
  if (++states.recurrences < least_recurrences) return false;
  if (!states.spins) {
    states.spins = true;
    change();
  }
  if (states.confirmed != epoch_) {
    states.confirmed = epoch_;
    ++confirmed_;
  }
  return confirmed_ == running_;
}

}  // namespace rung::vgpu
