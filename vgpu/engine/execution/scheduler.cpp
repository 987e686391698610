// The scheduler: turns of warps, divergence and reconvergence.

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/chain.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/model/schedule.hpp"
#include "vgpu/model/step_watch.hpp"

namespace rung::vgpu {
namespace {

// Warp instructions per turn. A warp that does not spin usually reaches a barrier or its end first.
constexpr std::uint64_t turn_budget = 1u << 20;
// Divergent warps have shorter turns, because one part may spin on another.
constexpr std::uint64_t split_budget = 1u << 14;
constexpr int poll_budget = Chain::max_polls;

}  // namespace

inline const BasicBlock& Block::block_at(int index) const {
  return worker.kernel.blocks[static_cast<std::size_t>(index)];
}

/// True for an access to global or shared memory, in which a schedule can show a race.
static bool accesses_memory(const Kernel& kernel, const Instr& instr) {
  if (instr.site >= kernel.sites.size()) return false;
  switch (kernel.sites[instr.site].role) {
    case SiteRole::global_load:
    case SiteRole::global_store:
    case SiteRole::global_atomic:
    case SiteRole::shared_load:
    case SiteRole::shared_store:
    case SiteRole::shared_atomic: return true;
    default: return false;
  }
}

/// True if all 32 lanes are about to run a basic block together.
inline bool Block::is_whole(const Warp& warp) const {
  const Split& split = warp.splits[0];
  return warp.split_count == 1 && split.mask == all_lanes && split.state == Split::State::ready &&
         split.resume < 0;
}

Block::Status Block::run() {
  LaunchState& launch = worker.launch;
  const auto budget = std::clamp<std::uint64_t>(launch.options.instruction_limit, 1, turn_budget);
  const StepWatcher* const steps = linear == 0 && worker.watched ? step_watcher.load() : nullptr;
  const bool chains = worker.native && steps == nullptr;
  Schedule* const schedule = running_schedule();
  std::vector<std::size_t> turns;  // the warps in the order of their turns, under a schedule
  if (schedule != nullptr) {
    turns.resize(warps.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
  }
  for (;;) {
    bool ran = false;
    bool spent = false;
    bool alive = false;
    if (schedule != nullptr) schedule->shuffle(std::span(turns));
    for (std::size_t i = 0; i < warps.size(); ++i) {
      Warp& warp = warps[schedule == nullptr ? i : turns[i]];
      if (warp.live == 0) continue;
      alive = true;
      if (launch.stop.load(std::memory_order_relaxed)) return Status::stopped;
      const std::uint64_t before = worker.spent;
      if (schedule != nullptr) {
        warp.current =
            static_cast<int>(schedule->below(static_cast<std::uint64_t>(warp.split_count)));
      }
      const Turn turn =
          chains && is_whole(warp)
              ? take_whole_turn(warp, budget)
              : take_turn(warp, schedule == nullptr ? budget : schedule->turn(budget), steps);
      ran = ran || worker.spent != before || turn != Turn::suspended;
      spent = spent || turn == Turn::spent;
    }
    if (!alive) return Status::done;
    if (!worker.within_limit(*this)) return Status::stopped;
    if (!ran) {
      const bool goes_on = std::any_of(warps.begin(), warps.end(), [&](Warp& warp) {
        return warp.live != 0 && force_exchange(warp, false);
      });
      if (goes_on) continue;
      return Status::stalled;
    }
    if (spent || (schedule != nullptr && schedule->one_in(2))) return Status::yielded;
  }
}

/// Runs a turn of a warp for which is_whole() holds.
inline Block::Turn Block::take_whole_turn(Warp& warp, std::uint64_t budget) {
  const std::uint64_t end = worker.spent + budget;
  worker.polls = 0;
  warp.mask = all_lanes;
  warp.current = 0;
  const bool runs_on = run_whole(warp, end);
  const bool waits = warp.split_count == 1 && warp.splits[0].state == Split::State::at_barrier;
  return waits ? Turn::suspended : go_on(warp, runs_on, end, budget, nullptr);
}

Block::Turn Block::take_turn(Warp& warp, std::uint64_t budget, const StepWatcher* steps) {
  if (!pick_split(warp, false) && !(force_exchange(warp, true) && pick_split(warp, false))) {
    return Turn::suspended;
  }
  worker.polls = 0;
  const std::uint64_t end = worker.spent + budget;
  return go_on(warp, run_part(warp, budget, steps), end, budget, steps);
}

/// Runs the rest of a turn, after the first split. `runs_on`: the first split can continue.
Block::Turn Block::go_on(Warp& warp, bool runs_on, std::uint64_t end, std::uint64_t budget,
                         const StepWatcher* steps) {
  for (;;) {
    if (warp.live == 0) return Turn::exited;
    const bool polls = worker.polls >= poll_budget;
    if (polls) pick_split(warp, true);
    if (worker.spent >= end || polls) return Turn::spent;
    if (warp.split_count == 1 && warp.split().state == Split::State::at_barrier) {
      return Turn::suspended;
    }
    if (!pick_split(warp, runs_on) && !(force_exchange(warp, true) && pick_split(warp, false))) {
      return Turn::suspended;
    }
    runs_on = run_part(warp, budget, steps);
  }
}

/// Runs the current split's part of a turn.
[[gnu::always_inline]] inline bool Block::run_part(Warp& warp, std::uint64_t budget,
                                                   const StepWatcher* steps) {
  const std::uint64_t end = worker.spent + std::min(split_budget, budget);
  const bool whole = worker.native && warp.mask == all_lanes && warp.split().parent < 0 &&
                     warp.split().resume < 0 && steps == nullptr;
  return whole ? run_whole(warp, end) : run_split(warp, end, steps);
}

inline Chain::State Block::chain_state(Warp& warp, std::uint64_t end) {
  const auto idle = static_cast<std::uint64_t>(warp_size - lanes_in(warp.mask));
  return {&warp, &warp.split(), &worker.spent, &worker.polls, worker.executions.data(), end, idle};
}

/// run_split() in machine code, for all 32 lanes together. No lane waits for others.
[[gnu::always_inline]] inline bool Block::run_whole(Warp& warp, std::uint64_t end) {
  Split& split = warp.split();
  const Chain::State state = chain_state(warp, end);
  const Chain& chain = *chain_of(worker.kernel);
  for (;;) {
    const Chain::Stop stop = chain.run(state, split.block);
    if (stop.reason == Chain::Stop::Reason::pause) {
      split.block = stop.block;
      return split.state == Split::State::ready;
    }
    if (!advance(warp, block_at(stop.block), stop.block)) return false;
    if (warp.mask != all_lanes || worker.spent >= end || worker.polls >= poll_budget) return true;
  }
}

/// run_split() in machine code, for a part of the live lanes. Returns nullopt if run_split() must
/// continue.
[[gnu::always_inline]] inline std::optional<bool> Block::run_divergent(Warp& warp,
                                                                       std::uint64_t end) {
  using Reason = Chain::Stop::Reason;
  Split& split = warp.split();
  const Chain& chain = *chain_of(worker.kernel);
  while (split.resume < 0 && warp.mask != warp.live) {
    const Chain::Stop stop = chain.run_part(chain_state(warp, end), split.block);
    split.block = stop.block;
    switch (stop.reason) {
      case Reason::pause: return split.state == Split::State::ready;
      case Reason::arrival: return go_to(warp, stop.block);
      case Reason::exchange: return std::nullopt;
      case Reason::decision:
        if (!advance(warp, block_at(stop.block), stop.block)) return false;
    }
    if (worker.spent >= end || worker.polls >= poll_budget) return true;
  }
  return std::nullopt;
}

/// Runs basic blocks until the split waits, joins its parent or ends, or until worker.spent reaches
/// `end`. Returns true if the split can continue.
[[gnu::always_inline]] inline bool Block::run_split(Warp& warp, std::uint64_t end,
                                                    const StepWatcher* steps) {
  Worker::Executions* const executions = worker.executions.data();
  Split& split = warp.split();
  const bool chains = worker.native && steps == nullptr;
  for (;;) {
    if (chains) {
      if (const auto runs_on = run_divergent(warp, end)) return *runs_on;
    }
    const int index = split.block;
    const BasicBlock& block = block_at(index);
    if (split.resume < 0) {
      worker.spent += block.instructions;
      ++executions[index].times;
      executions[index].idle_lanes += static_cast<std::uint64_t>(warp_size - lanes_in(warp.mask));
      if (steps != nullptr) (*steps)({warp.index, warp.mask, static_cast<std::uint32_t>(index)});
    }
    if (!run_code(warp, block)) return false;  // waits in the middle of the block
    if (block.suspends) {
      // A barrier ends its basic block; a waiting split resumes after it.
      split.block = block.next;
      if (split.state != Split::State::ready || !go_to(warp, block.next)) return false;
    } else if (!advance(warp, block, index)) {
      return false;
    }
    if (worker.spent >= end || worker.polls >= poll_budget) return true;
  }
}

/// Selects a ready split; a different one if possible, if `rotate` is set.
bool Block::pick_split(Warp& warp, bool rotate) {
  const int count = warp.split_count;
  const int begin = rotate ? warp.current + 1 : warp.current;
  for (int i = 0; i < count; ++i) {
    const int candidate = begin + i < count ? begin + i : begin + i - count;
    if (warp.splits[candidate].state != Split::State::ready) continue;
    warp.current = candidate;
    warp.mask = warp.split().mask;
    return true;
  }
  return false;
}

/// run_code() under a schedule, which may interrupt the warp before an access to memory: it returns false, and
/// the split resumes there at its next turn.
static bool run_interruptible(Warp& warp, const Kernel& kernel, const BasicBlock& block,
                              Schedule& schedule) {
  Worker& worker = *warp.worker;
  Split& own = warp.split();
  const Instr* const begin = kernel.code.data() + block.first;
  const int first = std::max(own.resume, 0);
  if (own.resume >= 0) {
    schedule.restore(own, worker.shapes);
    own.resume = -1;
    ++worker.spent;  // this turn has run something
  }
  for (int at = first; at < static_cast<int>(block.count); ++at) {
    const Instr& instr = begin[at];
    if (at != first && accesses_memory(kernel, instr) && schedule.interrupts()) {
      schedule.keep(own, worker.shapes);
      own.resume = at;
      worker.polls = poll_budget;  // ends the turn
      return false;
    }
    (warp.mask == warp.live ? instr.full : instr.masked)(warp, instr);
  }
  return true;
}

/// Runs the instructions of a block. Returns false if the split waits at an exchange in the middle
/// of it.
inline bool Block::run_code(Warp& warp, const BasicBlock& block) {
  if (block.exchanges && (warp.mask != warp.live || warp.split().resume >= 0)) {
    return run_exchanging(warp, block);
  }
  const Kernel& kernel = worker.kernel;
  Schedule* const schedule = worker.native ? nullptr : running_schedule();
  if (schedule != nullptr && !block.exchanges) {
    return run_interruptible(warp, kernel, block, *schedule);
  }
  const Instr* instr = worker.native ? kernel.native_code.data() + block.native_first
                                     : kernel.code.data() + block.first;
  const Instr* const end = instr + (worker.native ? block.native_count : block.count);
  if (warp.mask == warp.live) {
    for (; instr != end; ++instr) instr->full(warp, *instr);
  } else {
    for (; instr != end; ++instr) instr->masked(warp, *instr);
  }
  return true;
}

inline bool Block::advance(Warp& warp, const BasicBlock& block, int index) {
  const auto guard = [&] {
    const Mask holds = warp.predicate(block.guard);
    return warp.mask & (block.guard_negated ? ~holds : holds);
  };
  switch (block.end) {
    case BasicBlock::End::next: return go_to(warp, block.next);
    case BasicBlock::End::jump:
      return block.meets && call(warp, block, block.taken) ? false : go_to(warp, block.taken);
    case BasicBlock::End::branch: {
      const Mask taken = guard();
      if (taken == warp.mask) return go_to(warp, block.taken);
      if (taken == 0) return go_to(warp, block.next);
      ++worker.executions[index].divergent;
      return diverge(warp, block, taken);
    }
    case BasicBlock::End::indirect: return jump_indirect(warp, block);
    case BasicBlock::End::exit: exit_lanes(warp, warp.mask); return false;
    case BasicBlock::End::exit_if:
      warp.split().site = block.end_site;
      exit_lanes(warp, guard());
      return warp.split().state == Split::State::ready && go_to(warp, block.next);
  }
  return false;
}

/// Moves the current split to a basic block. Returns false if it joins its parent there or has
/// ended.
inline bool Block::go_to(Warp& warp, int target) {
  Split& split = warp.split();
  split.block = target;
  if (target != split.reconverge || split.parent < 0) return true;
  warp.splits[split.parent].arrived |= split.mask;
  end_split(warp, warp.current);
  return false;
}

/// Divides the current split: the lanes of `taken` branch, the others fall through.
bool Block::diverge(Warp& warp, const BasicBlock& block, Mask taken) {
  Split& split = warp.split();
  const Mask others = split.mask & ~taken;
  const bool nested = block.post_dominator != split.reconverge || split.parent < 0;
  if (block.post_dominator < 0 || !nested) {
    // The parts reconverge where the split itself ends, or never. So the second part becomes a
    // sibling of the first.
    split.mask = others;
    warp.mask = others;
    split.site = block.end_site;
    place(warp, split.parent, split.reconverge, block.taken, taken, block.end_site);
    return go_to(warp, block.next);
  }
  const int parent = warp.current;
  split.state = Split::State::waits_for_children;
  split.block = block.post_dominator;
  split.arrived = 0;
  place(warp, parent, block.post_dominator, block.taken, taken, block.end_site);
  place(warp, parent, block.post_dominator, block.next, others, block.end_site);
  return false;
}

/// The lanes call a function and reconverge at its return address, because recursive calls return
/// at different times. Returns false if the call needs no split, because its own ends there, or none
/// is available.
bool Block::call(Warp& warp, const BasicBlock& block, int target) {
  if (warp.split().parent >= 0 && warp.split().reconverge == block.post_dominator) return false;
  const auto used = std::count_if(warp.splits.begin(), warp.splits.end(), [](const Split& split) {
    return split.state != Split::State::unused;
  });
  if (used >= warp_size) return false;
  Split& split = warp.split();
  split.state = Split::State::waits_for_children;
  split.block = block.post_dominator;
  split.arrived = 0;
  place(warp, warp.current, block.post_dominator, target, split.mask, Kernel::no_site);
  return true;
}

bool Block::jump_indirect(Warp& warp, const BasicBlock& block) {
  const std::uint32_t* index = warp.row<std::uint32_t>(block.guard);
  const int parent = warp.current;
  Split& split = warp.split();
  Mask rest = split.mask;
  const auto lanes_to = [&](int target) {
    Mask lanes = 0;
    for (Mask left = rest; left != 0; left &= left - 1) {
      const int lane = first_lane(left);
      const std::size_t choice = std::min<std::size_t>(index[lane], block.targets.size() - 1);
      if (block.targets[choice] == target) lanes |= 1u << lane;
    }
    return lanes;
  };
  const int first =
      block.targets[std::min<std::size_t>(index[first_lane(rest)], block.targets.size() - 1)];
  if (lanes_to(first) == rest) {
    return block.meets && call(warp, block, first) ? false : go_to(warp, first);
  }
  const bool nested =
      block.post_dominator >= 0 && (block.post_dominator != split.reconverge || split.parent < 0);
  if (!nested) {  // as in diverge(), the parts become siblings
    const Mask stays = lanes_to(first);
    for (rest &= ~stays; rest != 0;) {
      const int target =
          block.targets[std::min<std::size_t>(index[first_lane(rest)], block.targets.size() - 1)];
      const Mask lanes = lanes_to(target);
      rest &= ~lanes;
      place(warp, split.parent, split.reconverge, target, lanes, Kernel::no_site);
    }
    split.mask = stays;
    warp.mask = stays;
    return go_to(warp, first);
  }
  split.state = Split::State::waits_for_children;
  split.block = block.post_dominator;
  split.arrived = 0;
  while (rest != 0) {
    const int target =
        block.targets[std::min<std::size_t>(index[first_lane(rest)], block.targets.size() - 1)];
    const Mask lanes = lanes_to(target);
    rest &= ~lanes;
    place(warp, parent, block.post_dominator, target, lanes, Kernel::no_site);
  }
  return false;
}

/// Creates a split of these lanes at `target`, which the branch at `site` has sent there. If they would
/// reconverge there, the lanes arrive immediately instead.
void Block::place(Warp& warp, int parent, int reconverge, int target, Mask mask,
                  std::uint32_t site) {
  if (parent >= 0 && target == reconverge) {
    warp.splits[parent].arrived |= mask;
    return;
  }
  const auto free = std::find_if(warp.splits.begin(), warp.splits.end(), [](const Split& split) {
    return split.state == Split::State::unused;
  });
  *free = {};
  warp.split_count = std::max(warp.split_count, static_cast<int>(free - warp.splits.begin()) + 1);
  free->state = Split::State::ready;
  free->mask = mask;
  free->block = target;
  free->reconverge = reconverge;
  free->parent = parent;
  free->site = site;
  if (parent >= 0) ++warp.splits[parent].children;
}

/// Removes the split. If it was the last child, its parent resumes with the lanes that arrived, or
/// ends as well.
void Block::end_split(Warp& warp, int index) {
  Split& split = warp.splits[index];
  const int parent = split.parent;
  split.state = Split::State::unused;
  if (parent < 0) return;
  Split& above = warp.splits[parent];
  if (--above.children != 0) return;
  above.mask = above.arrived & warp.live;
  if (above.mask == 0) {
    end_split(warp, parent);
    return;
  }
  above.state = Split::State::ready;
}

void Block::suspend(Warp& warp, int id, const Instr& instr) {
  Split& split = warp.split();
  split.state = Split::State::at_barrier;
  split.barrier = id;
  split.site = instr.site;
}

void Block::wake(Warp& warp, int split) { warp.splits[split].state = Split::State::ready; }

void Block::exit_lanes(Warp& warp, Mask lanes) {
  if (lanes == 0) return;
  warp.live &= ~lanes;
  if (warp.live != 0 && worker.observe) {
    early_exits_.push_back({warp.index, lanes, warp.split().site});
  }
  warp.mask &= ~lanes;
  warp.split().mask &= ~lanes;
  live_threads_ -= lanes_in(lanes);
  if (warp.mask == 0) end_split(warp, warp.current);
  for (std::uint32_t ids = barriers_used_; ids != 0; ids &= ids - 1) {
    complete_if_full(std::countr_zero(ids));
  }
  for (const Split& split : warp.used_splits()) {
    if (split.state == Split::State::at_warp_sync) complete_warp_sync(warp, split.sync_mask);
  }
  wake_exchanges(warp);
}

}  // namespace rung::vgpu
