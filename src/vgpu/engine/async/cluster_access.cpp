#include "vgpu/engine/async/cluster_access.hpp"

#include <cstring>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/model/async_ops.hpp"

namespace rung::vgpu {
namespace {

/// Checks and records the lane's access in the target block's shadow. Accesses to the own block are
/// treated like those to any other.
void observe(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes, bool stores) {
  Block& own = *access.warp.block;
  if (!own.worker.observe) return;
  AsyncShadow& shadow = access.block.async->shadow;
  const int thread = own.thread(access.warp, access.lane);
  const std::size_t component = own.cluster.order.segments(own.rank, access.warp.index);
  const std::uint32_t segment = own.order.segment(access.warp.index);
  const AsyncRange range{offset, bytes};
  if (stores) {
    own.observers.check_async_write(access, offset, bytes);
    const auto id = static_cast<std::uint32_t>(shadow.writes.size());
    shadow.writes.push_back({access.site, own.rank, thread, component, segment, "remote write"});
    own.observers.note_async_write(access, offset, bytes, id);
  } else {
    own.observers.check_async_read(access, {&range, 1}, true);
    const auto id = static_cast<std::uint32_t>(shadow.reads.size());
    shadow.reads.push_back({access.site, own.rank, thread, component, segment, "remote read"});
    own.observers.note_async_read(access, {&range, 1}, shadow.remote_slot(), id);
  }
}

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
    observe({*place->block, warp, lane, instr.site, Stores ? "write" : "read"}, place->offset,
            bytes, Stores);
    std::byte* at = place->block->shared.data() + place->offset;
    for (const std::uint32_t row : op.rows) {
      // If the row's lanes are wider, the low bytes.
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

void run_cluster_load(Warp& warp, const Instr& instr) { access<false>(warp, instr); }
void run_cluster_store(Warp& warp, const Instr& instr) { access<true>(warp, instr); }

}  // namespace rung::vgpu
