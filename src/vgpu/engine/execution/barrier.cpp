// Barriers of a block and of a warp, and deadlocks.

#include "vgpu/engine/execution/barrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {

/// Adds the current lanes of the warp. A barrier with a thread count counts whole warps, even if
/// the last lanes of a warp do not exist.
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
  // Usually both, which changes nothing.
  if (!orders.shared || !orders.device) barrier.orders = barrier.orders & orders;
  wait_at(warp, id, expected, instr);
  if (divergent) barrier.waiting.back().divergent = &instr;
  complete_if_full(id);
}

/// Parts of a warp may arrive at the same barrier one after the other, but all must arrive.
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
  bool divergent = false;
  for (const Barrier::Waiter& waiter : done.waiting) {
    divergent = divergent || waiter.divergent != nullptr;
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
  // The count excludes threads that have exited.
  const std::uint64_t all =
      done.expected == 0 ? live_threads_ : worker.launch.options.block.count();
  if (participants >= all) {
    order.meet_all(done.orders);
    if (done.orders.shared) shadow.meet_all();
    if (order.exhausted()) {
      shadow.forget();
      observers.settle_grid_waits(*this);
      releases.settle();
      order.start(static_cast<int>(warps.size()));
    }
  } else {
    order.meet(done.arrived, waiting_warps(done), done.orders);
  }
  if (async != nullptr) meet_async(*this, done);
  if (worker.kernel.synchronises_blocks) releases.meet(done.arrived, waiting_warps(done));
  done.clear();
}

/// __syncwarp: the named lanes that have not exited wait for each other, even if they diverged.
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
  for (const Split& split : warp.splits) {
    if (split.state == Split::State::at_warp_sync && split.sync_mask == wanted) here |= split.mask;
  }
  if ((wanted & warp.live & ~here) != 0) return;
  for (Split& split : warp.splits) {
    if (split.state == Split::State::at_warp_sync && split.sync_mask == wanted) {
      split.state = Split::State::ready;
    }
  }
  order.meet_lanes(warp.index,
                   std::exchange(sync_orders_[static_cast<std::size_t>(warp.index)], {}));
}

/// Reports what that split waits for, if it waits.
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

void Block::report_deadlock() {
  for (const Barrier& barrier : barriers_) report_divergent(barrier);
  for (const Warp& warp : warps) {
    for (const Split& split : warp.splits) report_wait(warp, split);
  }
}

}  // namespace rung::vgpu
