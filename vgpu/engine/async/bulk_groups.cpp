// Groups of bulk copies out of shared memory. Their writes happen, and are ordered before the
// thread's later accesses, when the thread waits for the group.

#include <cstring>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/async/bulk_copy.hpp"
#include "vgpu/engine/async/bulk_reduction.hpp"
#include "vgpu/engine/execution/cluster.hpp"

namespace rung::vgpu {
namespace {

AsyncWarp& state_of(Warp& warp) {
  return warp.block->async->warps[static_cast<std::size_t>(warp.index)];
}

void write_piece(const BulkStore& store, const BulkStore::Piece& piece, const std::byte* from) {
  if (store.action == BulkCopyOp::Reduction::none) {
    std::memcpy(piece.to, from, piece.bytes);
  } else {
    reduce(store.action, piece.to, from, piece.bytes);
  }
}

void complete_writes(Warp& warp, std::uint32_t number) {
  Block& block = *warp.block;
  auto& in_flight = state_of(warp).in_flight;
  for (; !in_flight.empty() && in_flight.front().number <= number; in_flight.pop_front()) {
    const BulkWrite& write = in_flight.front();
    for (const GlobalRange& range : write.ranges) {
      block.observers.complete_bulk_write({block, warp, write.lane, write.site, "bulk copy"}, range,
                                          write.atomic);
    }
  }
}

}  // namespace

void commit_bulk_group(Warp& warp, const Instr&) {
  AsyncWarp& state = state_of(warp);
  state.stores.commit();
  state.writes.issued = state.stores.issued;
  state.writes.commit();
}

void wait_bulk_reads(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  const std::uint32_t ended = state_of(warp).stores.wait(instr.imm);
  finish_stores(warp, ended);
  if (!block.worker.observe || ended == 0) return;
  AsyncOrder& order = block.cluster.order;
  order.of(block.rank, warp.index)[order.copied(block.rank, warp.index)] = ended;
}

void wait_bulk_groups(Warp& warp, const Instr& instr) {
  wait_bulk_reads(warp, instr);
  complete_writes(warp, state_of(warp).writes.wait(instr.imm));
}

void finish_stores(Warp& warp, std::uint32_t number) {
  auto& unfinished = state_of(warp).unfinished;
  for (; !unfinished.empty() && unfinished.front().number <= number; unfinished.pop_front()) {
    const BulkStore& store = unfinished.front();
    for (const BulkStore::Piece& piece : store.pieces) {
      write_piece(store, piece, warp.block->shared.data() + piece.at);
    }
  }
}

}  // namespace rung::vgpu
