// Barriers of blocks and warps, and deadlock reports.

#include "vgpu/engine/execution/barrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {

/// Lanes that have exited may be named ("all non-exited threads named in mask", CUDA C++ Programming Guide,
/// "Warp Shuffle Functions"), which is what a return ahead of the instruction relies on. Lanes that took
/// another branch had not exited.
void Block::check_exited_members(const Warp& warp, std::uint32_t site, Mask named) {
  for (const EarlyExit& exit : early_exits_) {
    if (exit.warp != warp.index || (exit.lanes & named) == 0) continue;
    const std::string branch = branch_that_skips(worker.kernel, {&exit, 1}, site);
    if (branch.empty()) continue;
    report(*this, HazardKind::bad_participant, thread(warp, first_lane(warp.mask)), site,
           "exchange", {},
           fmt::format("lanes {:#010x} are named in the mask but took another way at {}",
                       exit.lanes & named, branch));
    return;
  }
}

/// Adds the warp's active lanes. A barrier with a thread count counts whole warps, even if the last
/// lanes of a warp do not exist.
inline void Block::arrive(Warp& warp, Barrier& barrier, std::uint32_t expected,
                          bool counts_whole_warp) {
  barrier.expected = expected;
  const bool whole = warp.mask == warp.live && counts_whole_warp;
  barrier.threads += whole ? warp_size : static_cast<std::uint32_t>(lanes_in(warp.mask));
  barrier.arrived.push_back({warp.index, order.segment(warp.index)});
}

inline void Block::wait_at(Warp& warp, int id, std::uint32_t expected, const Instr& instr) {
  Barrier& barrier = barriers_[id];
  barriers_used_ |= 1u << id;
  arrive(warp, barrier, expected, expected != 0);
  Split& split = warp.split();
  split.state = Split::State::at_barrier;
  split.barrier = id;
  split.site = instr.site;
  barrier.waiting.push_back({warp.index, warp.current, warp.mask, nullptr});
}

void Block::barrier_sync(Warp& warp, int id, std::uint32_t expected, const Instr& instr,
                         bool aligned, OrderedMemory orders) {
  const bool divergent = aligned && warp.mask != warp.live && worker.observe;
  Barrier& barrier = barriers_[id];
  // The common barrier orders both memories, so nothing changes.
  if (!orders.shared || !orders.device) barrier.orders = barrier.orders & orders;
  wait_at(warp, id, expected, instr);
  if (divergent) barrier.waiting.back().divergent = &instr;
  complete_if_full(id);
}

/// Reports .aligned barriers that only a part of a warp reached. The parts may arrive one after the
/// other, but all must arrive.
void Block::report_divergent(const Barrier& barrier) {
  for (const Barrier::Waiter& waiter : barrier.waiting) {
    if (waiter.divergent == nullptr) continue;
    Mask here = 0;
    for (const Barrier::Waiter& other : barrier.waiting) {
      if (other.warp == waiter.warp && other.divergent == waiter.divergent) here |= other.mask;
    }
    const Warp& warp = warps[waiter.warp];
    if ((warp.live & ~here) == 0) continue;
    report(*this, HazardKind::divergent_barrier, thread(warp, first_lane(waiter.mask)),
           waiter.divergent->site, "barrier", {},
           fmt::format("{} of the warp's {} live lanes came to a barrier for all of them",
                       lanes_in(here), lanes_in(warp.live)));
  }
}

/// Reports a barrier that threads have skipped and exited. They count as having arrived, as in hardware since
/// Volta (CUDA C++ Programming Guide, "Compute Capability 7.x: Independent Thread Scheduling"), which is what
/// a return in front of the barrier relies on. But __syncthreads() is allowed in conditional code only if the
/// condition has the same value in the whole block (the same guide, "Synchronization Functions").
[[gnu::noinline]] void Block::report_skipped(const Barrier& barrier) {
  if (barrier.waiting.empty()) return;
  const Barrier::Waiter& waiter = barrier.waiting.front();
  const Warp& warp = warps[waiter.warp];
  const std::uint32_t site = warp.splits[waiter.split].site;
  std::string branch = branch_that_skips(worker.kernel, early_exits_, site);
  if (branch.empty()) branch = branch_around(worker.kernel, site);
  if (branch.empty()) return;
  report(*this, HazardKind::divergent_barrier, thread(warp, first_lane(waiter.mask)), site,
         "barrier", {},
         fmt::format("{} of the block's {} threads skipped it at {} and exited; all threads of a "
                     "block must come to it",
                     worker.launch.options.block.count() - live_threads_,
                     worker.launch.options.block.count(), branch));
}

/// Reports a barrier at which some warps wait while others, which skipped it, wait at a later one: the
/// hardware counts both as the same barrier.
[[gnu::noinline]] void Block::report_mixed(const Barrier& barrier) {
  const auto site_of = [&](const Barrier::Waiter& waiter) {
    return warps[waiter.warp].splits[waiter.split].site;
  };
  const auto& sites = worker.kernel.sites;
  for (const Barrier::Waiter& waiter : barrier.waiting) {
    const std::uint32_t site = site_of(waiter);
    std::uint32_t later = site, ahead = 0;
    for (const Barrier::Waiter& other : barrier.waiting) {
      const std::uint32_t candidate = site_of(other);
      // Copies of one barrier, as in an unrolled loop, are the same barrier of the source.
      const bool same = candidate == site ||
                        (!sites[site].where.empty() && sites[candidate].where == sites[site].where);
      if (same || !leads_to(worker.kernel, site, candidate)) continue;
      later = candidate;
      ahead += static_cast<std::uint32_t>(lanes_in(other.mask));
    }
    if (ahead == 0) continue;
    const std::string where =
        sites[later].where.empty() ? sites[later].mnemonic : sites[later].where;
    report(*this, HazardKind::divergent_barrier,
           thread(warps[waiter.warp], first_lane(waiter.mask)), site, "barrier", {},
           fmt::format("{} of the block's {} threads skipped it and wait at {}, and the two count "
                       "as one barrier; all threads of a block must come to it",
                       ahead, worker.launch.options.block.count(), where));
    return;
  }
}

void Block::barrier_arrive(Warp& warp, int id, std::uint32_t expected, const Instr&) {
  barriers_used_ |= 1u << id;
  arrive(warp, barriers_[id], expected, true);
  order.advance(warp.index);
  complete_if_full(id);
}

void Block::barrier_reduce(Warp& warp, int id, std::uint32_t expected, const Instr& instr,
                           Barrier::Reduction reduction, Mask predicate) {
  Barrier& barrier = barriers_[id];
  barrier.reduction = reduction;
  barrier.votes += static_cast<std::uint32_t>(lanes_in(predicate & warp.mask));
  wait_at(warp, id, expected, instr);
  barrier.waiting.back().reduction = &instr;
  complete_if_full(id);
}

void Block::complete_if_full(int id) {
  Barrier& barrier = barriers_[id];
  if (barrier.threads == 0) return;
  if (barrier.threads < (barrier.expected != 0 ? barrier.expected : live_threads_)) return;
  release(barrier);
}

namespace {

std::vector<int> waiting_warps(const Barrier& barrier) {
  std::vector<int> warps;
  for (const Barrier::Waiter& waiter : barrier.waiting) warps.push_back(waiter.warp);
  return warps;
}

}  // namespace

[[gnu::noinline]] void Block::release(Barrier& done) {
  std::uint32_t participants = 0;
  bool divergent = false, mixed = false;
  const auto site_of = [&](const Barrier::Waiter& waiter) {
    return warps[waiter.warp].splits[waiter.split].site;
  };
  for (const Barrier::Waiter& waiter : done.waiting) {
    divergent = divergent || waiter.divergent != nullptr;
    mixed = mixed || site_of(waiter) != site_of(done.waiting.front());
    Warp& warp = warps[waiter.warp];
    warp.splits[waiter.split].state = Split::State::ready;
    participants += static_cast<std::uint32_t>(lanes_in(waiter.mask));
    if (waiter.reduction == nullptr) continue;
    const bool holds =
        done.reduction == Barrier::Reduction::all ? done.votes >= done.threads : done.votes != 0;
    if (done.reduction == Barrier::Reduction::popc) {
      std::uint32_t* count = warp.row<std::uint32_t>(waiter.reduction->row[0]);
      for (int lane = 0; lane < warp_size; ++lane) {
        if (waiter.mask >> lane & 1u) count[lane] = done.votes;
      }
    } else {
      Mask& result = warp.predicate(waiter.reduction->row[0]);
      result = (result & ~waiter.mask) | (holds ? waiter.mask : 0);
    }
  }
  if (divergent) report_divergent(done);
  if (done.expected == 0 && worker.observe) {
    if (mixed) report_mixed(done);
    if (live_threads_ < worker.launch.options.block.count()) report_skipped(done);
  }
  // Without a count, threads that have exited need not arrive.
  const std::uint64_t all = done.expected == 0 ? live_threads_ : threads_.count();
  if (participants >= all) {
    order.synchronize_all(done.orders);
    if (done.orders.shared) shadow.synchronize_all();
    if (order.exhausted()) {
      shadow.forget();
      observers.settle_grid_waits(*this);
      releases.settle();
      order.start(static_cast<int>(warps.size()));
    }
  } else {
    order.meet(done.arrived, waiting_warps(done), done.orders);
  }
  if (async != nullptr) synchronize_async(*this, done);
  if (worker.kernel.synchronises_blocks) releases.meet(done.arrived, waiting_warps(done));
  done.clear();
}

/// __syncwarp: synchronizes the named lanes that have not exited, even if they have diverged.
void Block::warp_sync(Warp& warp, Mask wanted, const Instr& instr, OrderedMemory orders) {
  Split& own = warp.split();
  own.state = Split::State::at_warp_sync;
  own.sync_mask = wanted;
  OrderedMemory& ordered = sync_orders_[static_cast<std::size_t>(warp.index)];
  ordered = ordered & orders;
  own.site = instr.site;
  complete_warp_sync(warp, wanted);
}

void Block::complete_warp_sync(Warp& warp, Mask wanted) {
  Mask here = 0;
  std::uint32_t site = Kernel::no_site;
  for (const Split& split : warp.splits) {
    if (split.state != Split::State::at_warp_sync || split.sync_mask != wanted) continue;
    here |= split.mask;
    site = split.site;
  }
  if ((wanted & warp.live & ~here) != 0) return;
  if ((wanted & ~warp.live) != 0) check_exited_members(warp, site, wanted);
  for (Split& split : warp.splits) {
    if (split.state == Split::State::at_warp_sync && split.sync_mask == wanted) {
      split.state = Split::State::ready;
    }
  }
  order.synchronize_lanes(warp.index,
                          std::exchange(sync_orders_[static_cast<std::size_t>(warp.index)], {}));
}

/// Reports what the split waits for, if it waits.
void Block::report_wait(const Warp& warp, const Split& split) {
  std::string message;
  if (split.state == Split::State::at_barrier && split.barrier >= barrier_count) {
    message = describe_wait(*this, split.barrier);
  } else if (split.state == Split::State::at_barrier) {
    const Barrier& barrier = barriers_[split.barrier];
    message = fmt::format("barrier {} waits for {} threads, {} have arrived, and the rest cannot",
                          split.barrier, barrier.expected != 0 ? barrier.expected : live_threads_,
                          barrier.threads);
  } else if (split.state == Split::State::at_warp_sync) {
    message = fmt::format(
        "__syncwarp waits for lanes {:#010x}; lanes {:#010x} live, and the rest cannot come",
        split.sync_mask, warp.live);
  } else {
    return;
  }
  report(*this, HazardKind::deadlock, thread(warp, first_lane(split.mask)), split.site, "wait", {},
         message);
}

bool Block::report_lanes_in_turn() {
  const auto found = lanes_in_turn(*this);
  if (!found) return false;
  report(
      *this, HazardKind::deadlock, thread(*found->warp, first_lane(found->spinning)), found->site,
      "wait", {},
      fmt::format("lanes of the warp wait for each other: lanes {:#010x} repeat this instruction, "
                  "and lanes {:#010x} wait for them at the loop's end, before what they wait for, "
                  "such as the release of a lock. nvcc lets a branch of the loop release it; clang "
                  "moves that "
                  "branch out of the loop",
                  found->spinning, found->waiting));
  return true;
}

void Block::report_deadlock() {
  for (const Barrier& barrier : barriers_) report_divergent(barrier);
  for (const Warp& warp : warps) {
    for (const Split& split : warp.splits) report_wait(warp, split);
  }
}

}  // namespace rung::vgpu
