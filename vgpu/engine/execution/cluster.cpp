#include "vgpu/engine/execution/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/tensor_memory/tcgen05.hpp"
#include "vgpu/model/schedule.hpp"

namespace rung::vgpu {
namespace {

// This many consecutive failed tests of mbarriers, without other progress, count as a deadlock.
constexpr int max_idle_tests = 1 << 14;

int ranks_of(const Dim3& cluster) { return static_cast<int>(cluster.count()); }

/// Reports a copy that arrives after its phase: those who wait for the phase read what was there before.
void check_phase(const Landing& landing, const AsyncWrite& write, Block& owner,
                 const Mbarrier& barrier) {
  if (landing.bytes == 0 || write.number == barrier.phase + 1) return;
  report(owner, HazardKind::barrier_misuse, write.rank == owner.rank ? write.thread : 0, write.site,
         "bulk copy", shared_address(owner, landing.barrier),
         fmt::format("phase {} has ended before the {} bytes of the copy arrived: its copies bring "
                     "more bytes than it expected",
                     write.number - 1, landing.bytes));
}

}  // namespace

Cluster::Cluster(Worker& worker) : worker_(worker) {
  for (int rank = 0; rank < ranks_of(worker.launch.options.cluster); ++rank) {
    blocks_.push_back(std::make_unique<Block>(worker, *this, rank));
  }
}

Cluster::~Cluster() = default;

void Cluster::start(std::uint64_t index) {
  index_ = index;
  const LaunchOptions& options = worker_.launch.options;
  const Dim3& size = options.cluster;
  const std::uint64_t across = options.grid.x / size.x, down = options.grid.y / size.y;
  if (worker_.kernel.asynchronous) {
    order.start(this->size(), static_cast<int>(blocks_[0]->warps.size()),
                worker_.kernel.uses_tensor_memory);
    gathered_ = released_ = order.of(0, 0);
  }
  landings.clear();
  ended_.assign(blocks_.size(), false);
  waiting_.clear();
  arrived_ = phase_ = 0;
  states_ = {};
  sampled_ = worker_.spent;
  idle_tests_ = 0;
  for (std::uint32_t rank = 0; rank < blocks_.size(); ++rank) {
    blocks_[rank]->start(
        {static_cast<std::uint32_t>(index % across) * size.x + rank % size.x,
         static_cast<std::uint32_t>(index / across % down) * size.y + rank / size.x % size.y,
         static_cast<std::uint32_t>(index / across / down) * size.z + rank / size.x / size.y});
  }
}

bool Cluster::spins_forever() {
  constexpr std::uint64_t long_turn = 1u << 20;  // in warp instructions
  const Worker& worker = worker_;
  if (worker.kernel.asynchronous || size() > 1 || running_schedule() != nullptr) return false;
  if (worker.spent - sampled_ < long_turn) return false;
  sampled_ = worker.spent;
  return worker.launch.spinning.all_spin(states_, block(0).state()) &&
         block(0).report_lanes_in_turn();
}

Block::Status Cluster::run() {
  Schedule* const schedule = running_schedule();
  for (;;) {
    bool yielded = false, ran = false, alive = false;
    const std::uint64_t before = worker_.spent;
    const int first = schedule == nullptr ? 0 : static_cast<int>(schedule->below(blocks_.size()));
    for (int i = 0; i < size(); ++i) {
      const int rank = (first + i) % size();
      if (has_ended(rank)) continue;
      switch (block(rank).run()) {
        case Block::Status::done:
          end_block(rank);
          ran = true;
          continue;
        case Block::Status::stopped: return Block::Status::stopped;
        case Block::Status::yielded: yielded = true; break;
        case Block::Status::stalled: break;
      }
      alive = true;
    }
    if (!alive) return Block::Status::done;
    if (yielded) {
      // A polling warp may wait for a write that another makes after a copy completes.
      if (schedule == nullptr || schedule->one_in(2)) land();
      return Block::Status::yielded;
    }
    if (ran || worker_.spent != before || complete_if_all_arrived() || land()) continue;
    for (int rank = 0; rank < size(); ++rank) {
      if (!has_ended(rank)) block(rank).report_deadlock();
    }
    return Block::Status::stopped;
  }
}

void Cluster::arrive(Warp& warp, const Instr& instr, bool releases) {
  moved();
  AsyncWarp& state = warp.block->async->warps[static_cast<std::size_t>(warp.index)];
  if (state.arrived == phase_ + 1 && (state.to_wait & warp.mask) != 0) {
    report(*warp.block, HazardKind::barrier_misuse,
           warp.block->thread(warp, first_lane(state.to_wait & warp.mask)), instr.site, "barrier",
           {}, "it has arrived before, and the cluster's barrier is not complete yet");
    worker_.launch.stop = true;
    return;
  }
  arrived_ += static_cast<std::uint32_t>(lanes_in(warp.mask));
  if (state.arrived != phase_ + 1) state.to_wait &= warp.live;
  state.arrived = phase_ + 1;
  state.to_wait |= warp.mask;
  join(gathered_, publish(warp, !releases));
  if (!releases) join(gathered_, state.initialised);
  state.initialised.clear();
  complete_if_all_arrived();
}

void Cluster::wait(Warp& warp, const Instr& instr) {
  AsyncWarp& state = warp.block->async->warps[static_cast<std::size_t>(warp.index)];
  // A lane that did not arrive would wait for itself.
  const bool have_all_arrived = (warp.mask & ~state.to_wait) == 0;
  state.to_wait &= ~warp.mask;
  if (have_all_arrived && state.arrived <= phase_) {
    acquire(warp, released_);
    return;
  }
  warp.block->suspend(warp, waits_for_cluster, instr);
  waiting_.push_back({&warp, warp.current});
}

std::uint32_t Cluster::missing() const {
  std::uint32_t live = 0, exited = 0;  // threads that have arrived and exited since
  for (const auto& block : blocks_) {
    live += block->live_threads();
    if (block->async == nullptr) continue;
    for (const Warp& warp : block->warps) {
      const AsyncWarp& state = block->async->warps[static_cast<std::size_t>(warp.index)];
      if (state.arrived == phase_ + 1) {
        exited += static_cast<std::uint32_t>(lanes_in(state.to_wait & ~warp.live));
      }
    }
  }
  return live - std::min(live, arrived_ - std::min(arrived_, exited));
}

bool Cluster::complete_if_all_arrived() {
  if (arrived_ == 0 || missing() != 0) return false;
  arrived_ = 0;
  ++phase_;
  // The barrier does not wait for threads that have exited: what they waited for is complete.
  for (const auto& block : blocks_) {
    for (const Warp& warp : block->warps) {
      if (worker_.observe && warp.live == 0) join(gathered_, order.of(block->rank, warp.index));
    }
  }
  released_ = gathered_;
  for (const Waiter& waiter : waiting_) {
    waiter.warp->block->wake(*waiter.warp, waiter.split);
    acquire(*waiter.warp, released_);
  }
  waiting_.clear();
  return true;
}

bool Cluster::may_still_arrive() { return ++idle_tests_ < max_idle_tests; }

void Cluster::end_block(int rank) {
  ended_[static_cast<std::size_t>(rank)] = true;
  moved();
  if (blocks_[static_cast<std::size_t>(rank)]->async == nullptr) return;
  finish_async(block(rank));
  complete_if_all_arrived();
}

bool Cluster::land() {
  if (landings.empty()) return false;
  const Landing landing = std::move(landings.front());
  landings.pop_front();
  moved();
  if (landing.is_commit) {
    land_commit(*this, landing);
    return true;
  }
  for (const Landing::Target& target : landing.targets) {
    Block& to = block(target.rank);
    if (has_ended(target.rank)) continue;  // reported when it ended
    for (const Landing::Piece& piece : landing.pieces) {
      std::memcpy(to.shared.data() + piece.to, landing.data.data() + piece.from, piece.bytes);
    }
    if (has_ended(target.barrier_rank)) continue;
    Block& owner = block(target.barrier_rank);
    Mbarrier* const barrier = owner.async->barriers.find(landing.barrier);
    if (barrier == nullptr || !barrier->valid) continue;
    const std::uint32_t write = target.write;
    if (owner.worker.observe && write != 0) {
      check_phase(landing, to.async->shadow.writes[write], owner, *barrier);
    }
    barrier->due -= landing.bytes;
    complete_if_due(owner, *barrier);
  }
  return true;
}

}  // namespace rung::vgpu
