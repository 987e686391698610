#include "vgpu/engine/tensor_memory/tcgen05.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"

namespace rung::vgpu {
namespace {

TensorWarp& state_of(Warp& warp) {
  return warp.block->async->tensor->warps[static_cast<std::size_t>(warp.index)];
}

constexpr std::uint32_t mbarrier_bytes = 8;

/// Shifts rows of 32 bytes (8 columns) down: lane i takes lane i + 1.
void shift_lanes(TensorMemory& memory, TensorAddress at) {
  constexpr int columns = 8, lanes = 32;
  for (int column = at.column; column < at.column + columns; ++column) {
    std::uint32_t* const cells = memory.column(column) + at.lane;
    std::copy(cells + 1, cells + lanes, cells);
  }
}

}  // namespace

int TensorIssue::thread() const { return block().thread(warp, lane); }

std::size_t TensorIssue::component() const {
  return block().cluster.order.tensor(block().rank, warp.index);
}

void TensorIssue::fail(HazardKind kind, std::string address, std::string message) const {
  report(block(), kind, thread(), instr.site, what, std::move(address), std::move(message));
  block().worker.launch.stop = true;
}

TensorIssue issue(Warp& warp, const Instr& instr, int lane, const char* what) {
  TensorWarp& state = state_of(warp);
  if (warp.block->worker.observe) state.issuers.push_back(lane);
  return {warp, instr, lane, what, ++state.issued};
}

std::vector<Block*> blocks_of(const TensorIssue& issue, int blocks) {
  Block& own = issue.block();
  if (blocks == 1) return {&own};
  const int peer = own.rank ^ 1;
  if (peer >= own.cluster.size()) {
    issue.fail(HazardKind::bad_participant, {},
               ".cta_group::2 needs a pair of blocks, and the cluster has no other block");
    return {};
  }
  if (own.cluster.has_ended(peer)) {
    issue.fail(HazardKind::in_flight, {},
               fmt::format("block {} of the cluster, the other one of the pair, has exited", peer));
    return {};
  }
  state_of(issue.warp).of_pair = issue.number;
  state_of(issue.warp).pair_site = issue.instr.site;
  Block& other = own.cluster.block(peer);
  return own.rank < peer ? std::vector{&own, &other} : std::vector{&other, &own};
}

bool use_cells(const TensorIssue& issue, Block& owner, const TensorRange& range, bool writes) {
  if (!check_allocated(owner, issue.warp, issue.lane, issue.instr.site, issue.what, range)) {
    return false;
  }
  if (!issue.block().worker.observe) return true;
  const TensorAccess access = issue.access(owner);
  check_tensor_use(access, range, writes ? TensorAccessKind::write : TensorAccessKind::read);
  note_tensor_use(access, range, writes, add_tensor_use(access, issue.component(), issue.number));
  return true;
}

void run_tensor_shift(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<TensorShiftOp>();
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const TensorIssue one = issue(warp, instr, first_lane(left), "tcgen05.shift");
    const auto at =
        TensorAddress::of(static_cast<std::uint32_t>(address_of(warp, op.address, one.lane)));
    if (at.lane % lanes_of_warp != 0) {
      return misuse_tensor_memory(warp, one.lane, instr.site, one.what, at,
                                  fmt::format("lane {} is not a multiple of 32", at.lane));
    }
    for (Block* const block : blocks_of(one, op.blocks)) {
      const TensorRange range{at.lane, lanes_of_warp, at.column, 8};
      if (!use_cells(one, *block, range, false) || !use_cells(one, *block, range, true)) return;
      shift_lanes(tensor_memory(*block), at);
    }
  }
}

namespace {

/// The number of the last instruction such that commits cover it and all before. A commit covers the
/// instructions of its own thread only (PTX ISA, 9.7.16.12).
std::uint32_t covered_by(TensorWarp& state, int lane) {
  constexpr int is_covered = -1;
  auto& issuers = state.issuers;
  std::replace(issuers.begin(), issuers.end(), lane, is_covered);
  const auto end =
      std::find_if(issuers.begin(), issuers.end(), [](int it) { return it != is_covered; });
  state.covered += static_cast<std::uint32_t>(end - issuers.begin());
  issuers.erase(issuers.begin(), end);
  return state.covered;
}

/// The blocks whose mbarriers the commit arrives at.
std::uint32_t targets_of(const TensorCommitOp& op, Warp& warp, int lane, int rank) {
  return op.multicast ? warp.row<std::uint16_t>(op.mask)[lane] : 1u << rank;
}

void commit(Warp& warp, const Instr& instr, int lane) {
  const auto& op = instr.op<TensorCommitOp>();
  Block& block = *warp.block;
  const auto place = cluster_place(warp, lane, instr.site, address_of(warp, op.barrier, lane),
                                   mbarrier_bytes, mbarrier_bytes, "tcgen05.commit");
  if (!place) return;
  Landing landing;
  landing.barrier = place->offset;
  landing.is_commit = true;
  landing.rank = block.rank;
  landing.site = instr.site;
  landing.thread = block.thread(warp, lane);
  AsyncOrder& order = block.cluster.order;
  if (block.worker.observe) {
    landing.clock = order.of(block.rank, warp.index);
    std::uint32_t& known = landing.clock[order.tensor(block.rank, warp.index)];
    known = std::max(known, covered_by(state_of(warp), lane));
  }
  const std::uint32_t mask = targets_of(op, warp, lane, place->block->rank);
  for (int rank = 0; rank < block.cluster.size(); ++rank) {
    if ((mask >> rank & 1u) == 0) continue;
    if (block.cluster.has_ended(rank)) {
      report(
          block, HazardKind::in_flight, landing.thread, instr.site, "tcgen05.commit", {},
          fmt::format("block {} of the cluster, whose mbarrier it arrives at, has exited", rank));
      block.worker.launch.stop = true;
      return;
    }
    const Mbarrier* const barrier = block.cluster.block(rank).async->barriers.find(landing.barrier);
    if (barrier == nullptr || !barrier->valid) {
      report(block, HazardKind::barrier_misuse, landing.thread, instr.site, "tcgen05.commit",
             shared_address(block.cluster.block(rank), landing.barrier),
             "there is no initialised mbarrier");
      block.worker.launch.stop = true;
      return;
    }
    if (rank != block.rank) {
      check_initialised(warp, lane, instr.site, "tcgen05.commit", block.cluster.block(rank),
                        *barrier);
    }
    landing.targets.push_back({rank, 0, rank});
  }
  block.cluster.landings.push_back(std::move(landing));
}

}  // namespace

void run_tensor_commit(Warp& warp, const Instr& instr) {
  for (Mask left = warp.mask; left != 0; left &= left - 1) commit(warp, instr, first_lane(left));
}

void run_even_block(Warp& warp, const Instr& instr) {
  const Block& block = *warp.block;
  auto* const to = warp.row<std::uint32_t>(instr.rows[0]);
  const auto* const from = warp.row<std::uint32_t>(instr.rows[1]);
  constexpr std::uint32_t inside = (1u << rank_shift) - 1;
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const std::uint32_t rank = from[lane] >> rank_shift;
    const std::uint32_t own = rank == 0 ? static_cast<std::uint32_t>(block.rank) : rank - 1;
    to[lane] = ((own & ~1u) + 1) << rank_shift | (from[lane] & inside);
  }
}

void land_commit(Cluster& cluster, const Landing& landing) {
  Block& own = cluster.block(landing.rank);
  if (own.worker.observe) {
    const int warp = landing.thread / warp_size;
    TensorWarp& state = own.async->tensor->warps[static_cast<std::size_t>(warp)];
    state.landed = std::max(state.landed, landing.clock[cluster.order.tensor(landing.rank, warp)]);
  }
  for (const Landing::Target& target : landing.targets) {
    Block& to = cluster.block(target.rank);
    if (cluster.has_ended(target.rank)) {
      if (target.rank == landing.rank) continue;
      report(own, HazardKind::in_flight, landing.thread, landing.site, "tcgen05.commit", {},
             fmt::format(
                 "block {} of the cluster has exited before the commit arrived at its mbarrier",
                 target.rank));
      continue;
    }
    Mbarrier* const barrier = to.async->barriers.find(landing.barrier);
    if (barrier == nullptr || !barrier->valid) continue;
    if (barrier->pending == 0) {
      report(own, HazardKind::barrier_misuse, landing.thread, landing.site, "tcgen05.commit",
             shared_address(to, landing.barrier), "one more arrival than the mbarrier waits for");
      continue;
    }
    if (own.worker.observe) join(barrier->arrived, landing.clock);
    --barrier->pending;
    complete_if_due(to, *barrier);
  }
}

void finish_tensor_pair(Block& block) {
  const int peer = block.rank ^ 1;
  if (peer >= block.cluster.size() || block.cluster.has_ended(peer)) return;
  Block& other = block.cluster.block(peer);
  if (other.async == nullptr) return;
  for (const Warp& warp : other.warps) {
    const TensorWarp& state = other.async->tensor->warps[static_cast<std::size_t>(warp.index)];
    if (!other.worker.observe || state.of_pair <= state.landed) continue;
    report(other, HazardKind::in_flight, other.thread(warp, 0), state.pair_site, "tcgen05", {},
           fmt::format("block {} of the cluster, the other one of the pair, has exited before this "
                       "operation on its memory was complete",
                       block.rank));
  }
}

}  // namespace rung::vgpu
