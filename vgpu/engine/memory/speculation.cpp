#include "vgpu/engine/memory/speculation.hpp"

#include <cstring>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/async/cluster_access.hpp"
#include "vgpu/engine/memory/access.hpp"
#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {
namespace {

void observe_shared(Block& block, const Warp& warp, const MemoryOp& op, Shape& shape) {
  const std::uint64_t window = op.space == ptx::Space::generic ? shared_window : 0;
  const std::int64_t offset = op.offset - static_cast<std::int64_t>(window);
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(offset);
  const std::uint64_t last =
      shape.high + static_cast<std::uint64_t>(offset) + op.access_bytes() - 1;
  block.observers.check_read_shared(block, warp, op.site, shape, offset, op.access_bytes());
  block.observers.log_read(block, warp, op.site, shape, offset, op.access_bytes());
  block.shadow.log.regions |= block.shadow.regions(low, last);
}

void observe_lanes(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place) {
  if (place.space == ptx::Space::shared) {
    observe_shared(block, warp, op, shape);
  } else if (place.space == ptx::Space::global) {
    block.observers.check_global(block, warp, op, shape, place, AccessKind::load);
  }
}

void observe_lane_in_cluster(Warp& warp, const MemoryOp& op, int lane, std::uint64_t address) {
  const auto found =
      cluster_place(warp, lane, op.site, address, op.access_bytes(), op.alignment(), "read");
  if (!found) return;
  observe_in_cluster(*found->block, warp, lane, op.site, AccessKind::load,
                     {found->offset, op.access_bytes()});
}

/// Observes the lanes with valid addresses; the load itself has reported the others.
void observe_good_lanes(Block& block, Warp& warp, const MemoryOp& op, const Shape& shape) {
  Shape& one = block.worker.scratch_shape;
  const Mask active = warp.mask;
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const std::uint64_t address = shape.address(lane);
    if (const std::uint64_t at = address + static_cast<std::uint64_t>(op.offset);
        names_block(op, at)) {
      observe_lane_in_cluster(warp, op, lane, at);
      continue;
    }
    std::array<std::uint64_t, warp_size> alone{};
    alone[lane] = address;
    one.describe(1u << lane, alone.data());
    warp.mask = one.mask;
    Place place;
    if (locate_lane(block, warp, op, one, AccessKind::load, place)) {
      observe_lanes(block, warp, op, one, place);
    }
  }
  warp.mask = active;
}

void observe(Warp& warp, const MemoryOp& op, Mask users) {
  Block& block = *warp.block;
  const Mask active = warp.mask;
  if (!block.worker.observe || (users & active) == 0) return;
  warp.mask = users & active;
  Shape& shape = block.worker.shapes[op.slot];
  make_shape()(shape, warp, op);
  Place place;
  if (locate(block, warp, op, shape, AccessKind::load, place)) {
    observe_lanes(block, warp, op, shape, place);
  } else {
    observe_good_lanes(block, warp, op, shape);
  }
  warp.mask = active;
}

}  // namespace

void keep_addresses(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MemoryOp>();
  const std::size_t bytes = op.address_bytes;
  std::byte* const to = warp.row<std::byte>(instr.row[0]);
  const std::byte* const from = warp.row<std::byte>(instr.row[1]);
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const auto at = static_cast<std::size_t>(first_lane(left)) * bytes;
    std::memcpy(to + at, from + at, bytes);
  }
}

void observe_if(Warp& warp, const Instr& instr) {
  observe(warp, instr.op<MemoryOp>(), warp.predicate(instr.row[0]));
}

void observe_unless(Warp& warp, const Instr& instr) {
  observe(warp, instr.op<MemoryOp>(), ~warp.predicate(instr.row[0]));
}

}  // namespace rung::vgpu
