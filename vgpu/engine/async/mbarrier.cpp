#include "vgpu/engine/async/mbarrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "vgpu/engine/async/async_copy.hpp"
#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/warp/warp_members.hpp"
#include "vgpu/model/async_ops.hpp"

namespace rung::vgpu {
namespace {

using Action = MbarrierOp::Action;

constexpr std::uint32_t object_bytes = 8;
// Maximum pending count and tx-count (PTX ISA, 9.7.13.15.1 and .5).
constexpr std::int64_t max_counted = (1 << 20) - 1;

/// One lane's use of a barrier.
struct Use {
  Warp& warp;
  const Instr& instr;
  int lane;
  Block& block;  // that owns the barrier
  Mbarrier& barrier;

  int thread() const { return warp.block->thread(warp, lane); }
};

void misuse(Warp& warp, const Instr& instr, int lane, std::uint32_t offset, std::string message) {
  Block& block = *warp.block;
  report(block, HazardKind::barrier_misuse, block.thread(warp, lane), instr.site, "mbarrier",
         shared_address(block, offset), std::move(message));
  block.worker.launch.stop = true;
}

void misuse(const Use& use, std::string message) {
  misuse(use.warp, use.instr, use.lane, use.barrier.offset, std::move(message));
}

std::optional<Use> use_of(Warp& warp, const Instr& instr, const AsyncAddress& address, int lane) {
  const auto place = cluster_place(warp, lane, instr.site, address_of(warp, address, lane),
                                   object_bytes, object_bytes, "mbarrier");
  if (!place) return std::nullopt;
  Mbarrier* const barrier = place->block->async->barriers.find(place->offset);
  if (barrier == nullptr || !barrier->valid) {
    misuse(warp, instr, lane, place->offset, "there is no initialised mbarrier");
    return std::nullopt;
  }
  const Use use{warp, instr, lane, *place->block, *barrier};
  check_initialised(use.warp, use.lane, use.instr.site, "mbarrier", use.block, use.barrier);
  return use;
}

void initialise(Warp& warp, const Instr& instr, const MbarrierOp& op, int lane) {
  const auto place = cluster_place(warp, lane, instr.site, address_of(warp, op.address, lane),
                                   object_bytes, object_bytes, "mbarrier");
  if (!place) return;
  Block& block = *warp.block;
  const std::uint32_t count = warp.row<std::uint32_t>(op.value)[lane];
  Mbarrier* const barrier = block.async->barriers.make(place->offset);
  if (place->block != &block || barrier == nullptr || barrier->valid || count == 0 ||
      count > max_counted) {
    misuse(warp, instr, lane, place->offset,
           place->block != &block ? "a block initialises its own mbarriers only"
           : barrier == nullptr
               ? fmt::format("more than {} mbarriers of a block", AsyncOrder::max_barriers)
           : barrier->valid ? "is initialised again, and was not invalidated"
                            : fmt::format("a count of {}: 1 to {}", count, max_counted));
    return;
  }
  const int thread = block.thread(warp, lane);
  block.observers.write_shared_once(block, thread, instr.site, place->offset, object_bytes);
  barrier->valid = true;
  barrier->visible = false;
  barrier->expected = barrier->pending = count;
  barrier->due = 0;
  barrier->first_phase = barrier->phase;
  barrier->initialised = make_stamp(block.order.segment(warp.index), thread);
  barrier->site = instr.site;
  barrier->arrived.assign(block.cluster.order.of(block.rank, warp.index).size(), 0);
  barrier->completed = barrier->arrived;
}

void expect(const Use& use, std::int64_t bytes) {
  use.barrier.due += bytes;
  if (use.barrier.due > max_counted || use.barrier.due < -max_counted) {
    misuse(use, fmt::format("{} bytes are expected; at most {} are allowed", use.barrier.due,
                            max_counted));
  }
}

void arrive(const Use& use, std::uint32_t count, const Clock* clock) {
  Mbarrier& barrier = use.barrier;
  if (count > barrier.pending) {
    misuse(use, fmt::format("{} more arrivals, and phase {} waits for {} only", count,
                            barrier.phase - barrier.first_phase, barrier.pending));
    return;
  }
  if (clock != nullptr) join(barrier.arrived, *clock);
  barrier.pending -= count;
  use.block.cluster.moved();
}

std::uint64_t state_of(const Mbarrier& barrier) { return std::uint64_t{barrier.phase} << 32 | 1; }

bool is_complete(const Mbarrier& barrier, const MbarrierOp& op, Warp& warp, int lane) {
  if (op.action == Action::test) {
    return barrier.phase > warp.row<std::uint64_t>(op.value)[lane] >> 32;
  }
  return barrier.parity() != (warp.row<std::uint32_t>(op.value)[lane] & 1);
}

void test(const Use& use, const MbarrierOp& op) {
  const bool complete = is_complete(use.barrier, op, use.warp, use.lane);
  set_bit(use.warp.predicate(op.result), use.lane, complete);
  if (complete) {
    acquire(use.warp, use.barrier.completed, op.relaxed);
    return;
  }
  Worker& worker = use.block.worker;
  worker.polls = std::numeric_limits<int>::max() / 2;  // end this warp's turn
  Cluster& cluster = use.block.cluster;
  if (cluster.land() || cluster.may_still_arrive()) return;
  report(use.block, HazardKind::deadlock, use.thread(), use.instr.site, "wait", {},
         describe(use.block, use.barrier) + ", and nothing that is left will bring them");
  worker.launch.stop = true;
}

void run_one(const Use& use, const MbarrierOp& op, const Clock* clock) {
  Warp& warp = use.warp;
  const auto value = [&] {
    return op.has_value ? warp.row<std::uint32_t>(op.value)[use.lane] : 1u;
  };
  Mbarrier& barrier = use.barrier;
  switch (op.action) {
    case Action::inval: barrier.valid = false; return;
    case Action::expect: return expect(use, value());
    case Action::complete: expect(use, -std::int64_t{value()}); break;
    case Action::test:
    case Action::test_parity: return test(use, op);
    default: {
      if (op.has_result) warp.row<std::uint64_t>(op.result)[use.lane] = state_of(barrier);
      if (op.action == Action::arrive_expect) expect(use, value());
      const std::uint32_t count = op.action == Action::arrive_expect ? 1 : value();
      if (op.action == Action::arrive_drop) barrier.expected -= std::min(barrier.expected, count);
      arrive(use, count, clock);
    }
  }
  complete_if_due(use.block, barrier);
}

bool arrives(Action action) {
  return action == Action::arrive || action == Action::arrive_expect ||
         action == Action::arrive_drop;
}

}  // namespace

void check_initialised(Warp& warp, int lane, std::uint32_t site, const char* what, Block& owner,
                       const Mbarrier& barrier) {
  Block& own = *warp.block;
  if (!own.worker.observe) return;
  const int thread = own.thread(warp, lane);
  bool ordered = false;
  if (&own == &owner) {
    ordered = own.order.ordered(barrier.initialised, thread);
  } else {
    AsyncOrder& order = own.cluster.order;
    const int other = barrier.thread() / warp_size;
    ordered = order.of(own.rank, warp.index)[order.segments(owner.rank, other)] >=
              stamp_time(barrier.initialised);
  }
  if (ordered) return;
  std::string address = shared_address(owner, barrier.offset);
  if (&owner != &own) address += fmt::format(" of block {} of the cluster", owner.rank);
  report_cluster_race(own, thread, site, what, owner, barrier.thread(), barrier.site, "write",
                      std::move(address));
}

Mbarrier* Mbarriers::find(std::uint32_t offset) {
  const auto found = std::find_if(barriers_.begin(), barriers_.end(), [&](const Mbarrier& barrier) {
    return barrier.offset == offset;
  });
  return found == barriers_.end() ? nullptr : &*found;
}

Mbarrier* Mbarriers::make(std::uint32_t offset) {
  if (Mbarrier* const known = find(offset)) return known;
  if (barriers_.size() == AsyncOrder::max_barriers) return nullptr;
  barriers_.emplace_back().offset = offset;
  return &barriers_.back();
}

void complete_if_due(Block& block, Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.due != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  join(barrier.completed, barrier.arrived);
  const AsyncOrder& order = block.cluster.order;
  const int index = block.async->barriers.index(barrier);
  barrier.completed[order.phases(block.rank, index)] = barrier.phase;
  block.cluster.moved();
  for (const Mbarrier::Waiter& waiter : barrier.waiting) {
    waiter.warp->predicate(waiter.result) |= waiter.mask;
    block.wake(*waiter.warp, waiter.split);
    acquire(*waiter.warp, barrier.completed, !waiter.acquires);
  }
  barrier.waiting.clear();
}

std::string describe(const Block& block, const Mbarrier& barrier) {
  return fmt::format("mbarrier {}, phase {} (parity {}), waits for {} of {} arrivals and {} bytes",
                     shared_address(block, barrier.offset), barrier.phase - barrier.first_phase,
                     barrier.parity(), barrier.pending, barrier.expected, barrier.due);
}

void run_mbarrier(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MbarrierOp>();
  const Clock* const clock = arrives(op.action) ? &publish(warp, op.relaxed) : nullptr;
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    if (op.action == Action::init) {
      initialise(warp, instr, op, lane);
    } else if (const auto use = use_of(warp, instr, op.address, lane)) {
      run_one(*use, op, clock);
    }
  }
}

void run_mbarrier_wait(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MbarrierOp>();
  Mbarrier* awaited = nullptr;
  Mask waiting = 0;
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const auto use = use_of(warp, instr, op.address, lane);
    if (!use) return;
    if (&use->block != warp.block) {
      misuse(*use, "a wait for another block's mbarrier");
      return;
    }
    const bool complete = is_complete(use->barrier, op, warp, lane);
    set_bit(warp.predicate(op.result), lane, complete);
    if (complete) {
      acquire(warp, use->barrier.completed, op.relaxed);
    } else if (awaited == nullptr || awaited == &use->barrier) {
      awaited = &use->barrier;
      waiting |= 1u << lane;
    }
  }
  if (awaited == nullptr) return;
  const int index = warp.block->async->barriers.index(*awaited);
  awaited->waiting.push_back({&warp, warp.current, waiting, op.result, !op.relaxed});
  warp.block->suspend(warp, waits_for_mbarrier + index, instr);
}

void run_mbarrier_copies(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MbarrierOp>();
  wait_async_all(warp, instr);
  const Clock& clock = publish(warp);
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const auto use = use_of(warp, instr, op.address, first_lane(left));
    if (!use) return;
    // Without .noinc, the operation increments the pending count first.
    if (!op.noinc) ++use->barrier.pending;
    arrive(*use, 1, &clock);
    complete_if_due(use->block, use->barrier);
  }
}

}  // namespace rung::vgpu
