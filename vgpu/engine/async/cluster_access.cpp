#include "vgpu/engine/async/cluster_access.hpp"

#include <cstring>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/model/async_ops.hpp"

namespace rung::vgpu {
namespace {

template <bool Stores>
void access(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<ClusterAccessOp>();
  const auto count = static_cast<std::uint32_t>(op.rows.size());
  const std::uint32_t bytes = op.bytes * count;
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const auto place = cluster_place(warp, lane, instr.site, address_of(warp, op.address, lane),
                                     bytes, std::min(bytes, 16u), Stores ? "write" : "read");
    if (!place) {
      for (const std::uint32_t row : op.rows) {
        if (!Stores) std::memset(warp.row<std::byte>(row) + lane * op.row_bytes, 0, op.row_bytes);
      }
      continue;
    }
    observe_in_cluster(*place->block, warp, lane, instr.site,
                       Stores ? AccessKind::store : AccessKind::load, {place->offset, bytes});
    std::byte* at = place->block->shared.data() + place->offset;
    for (const std::uint32_t row : op.rows) {
      // If the row's lanes are wider than the access, use their low bytes.
      std::byte* const value = warp.row<std::byte>(row) + lane * op.row_bytes;
      if (Stores) {
        std::memcpy(at, value, op.bytes);
      } else {
        std::memset(value, 0, op.row_bytes);
        std::memcpy(value, at, op.bytes);
      }
      at += op.bytes;
    }
  }
}

}  // namespace

bool names_block(const MemoryOp& op, std::uint64_t address) {
  if (!op.in_cluster || (address & window_mask) >> rank_shift == 0) return false;
  return op.space == ptx::Space::shared || (address & ~window_mask) == shared_window;
}

void observe_in_cluster(Block& block, Warp& warp, int lane, std::uint32_t site, AccessKind kind,
                        AsyncRange range) {
  Block& own = *warp.block;
  if (!own.worker.observe) return;
  AsyncShadow& shadow = block.async->shadow;
  const bool atomic = kind == AccessKind::atomic;
  const AsyncAccess access{block, warp, lane, site, name(kind), atomic};
  const int thread = own.thread(warp, lane);
  const std::size_t component = own.cluster.order.segments(own.rank, warp.index);
  const std::uint32_t segment = own.order.segment(warp.index);
  if (kind == AccessKind::load) {
    own.observers.check_async_read(access, {&range, 1}, true);
    const auto id = static_cast<std::uint32_t>(shadow.reads.size());
    shadow.reads.push_back({site, own.rank, thread, component, segment, "remote read"});
    own.observers.note_async_read(access, {&range, 1}, shadow.remote_slot(), id);
  } else {
    own.observers.check_async_write(access, range.offset, range.bytes);
    const auto id = static_cast<std::uint32_t>(shadow.writes.size());
    const char* const what = atomic ? "remote atomic" : "remote write";
    shadow.writes.push_back({site, own.rank, thread, component, segment, what, atomic});
    own.observers.note_async_write(access, range.offset, range.bytes, id);
  }
}

void run_cluster_load(Warp& warp, const Instr& instr) { access<false>(warp, instr); }
void run_cluster_store(Warp& warp, const Instr& instr) { access<true>(warp, instr); }

}  // namespace rung::vgpu
