#include "vgpu/observers/global_races.hpp"

#include <bit>

#include "vgpu/observers/global_access.hpp"
#include "vgpu/observers/global_rows.hpp"

namespace rung::vgpu {
namespace {

/// Checks, unless a lane has done so for the same address, and records a thread's access.
void visit(const GlobalAccess& access, int thread, std::uint64_t begin, bool again) {
  const std::uint64_t last = (begin + access.bytes - 1) / access.granule_bytes;
  for (std::uint64_t granule = begin / access.granule_bytes; granule <= last; ++granule) {
    if (!again) check_granule(access, thread, granule, begin);
    note_granule(access, thread, granule);
  }
}

/// If the lanes' accesses are adjacent, and plainly ordered after all earlier ones, deals with all
/// at once.
bool visit_row(const GlobalAccess& access, const Warp& warp, const Shape& shape,
               const Place& place) {
  const std::uint32_t bytes = access.bytes;
  if (shape.kind != Shape::Kind::linear || shape.stride != static_cast<std::int64_t>(bytes) ||
      place.lane_stride != 0 || access.atomic) {
    return false;
  }
  const std::uint64_t begin = place.address(shape.low, 0) - access.allocation.address;
  const int shift = std::countr_zero(bytes / access.granule_bytes);
  const GlobalRow row{access.shadow,
                      begin / access.granule_bytes,
                      shift,
                      access.stamp + static_cast<Stamp>(access.block.thread(warp, 0)),
                      access.oldest,
                      access.safe,
                      static_cast<std::uint16_t>(access.site)};
  return access.writes ? write_global_row(row, was_read(access), was_reread(access))
                       : read_global_row(row, access.alone);
}

template <class F>
void for_each_address(Shape& shape, const Place& place, const F& f) {
  for (int i = 0; i < shape.uniques(); ++i) {
    f(shape.low + shape.unique_distances()[i].distance + place.bias);
  }
}

}  // namespace

void observe_global_order(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                          const Place& place, AccessKind kind) {
  const Allocation& allocation = *place.allocation;
  if (!is_watched(block.worker.launch, allocation)) return;
  const bool atomic = kind == AccessKind::atomic || op.relaxed;
  const bool writes = kind != AccessKind::load;
  const GlobalAccess access = global_access(
      block, warp, allocation, {op.site, op.access_bytes(), name(kind), writes, atomic});
  if (!writes) mark(allocation.read_in_launch, access);
  if (visit_row(access, warp, shape, place)) return;

  const auto visit_lane = [&](std::uint64_t address, int lane, bool again) {
    visit(access, block.thread(warp, lane), place.address(address, lane) - allocation.address,
          again);
  };
  if (shape.kind == Shape::Kind::linear) {
    for (int lane = 0; lane < warp_size; ++lane) visit_lane(shape.address(lane), lane, false);
    return;
  }
  const auto& unique = shape.unique_distances();
  for (int i = 0; i < shape.uniques(); ++i) {
    const std::uint64_t address = shape.low + unique[i].distance;
    visit_lane(address, unique[i].first, false);
    if (unique[i].second != unique[i].first) visit_lane(address, unique[i].second, true);
  }
}

void observe_fence(Warp& warp) {
  Block& block = *warp.block;
  if (!block.worker.kernel.synchronises_blocks) return;
  block.releases.fence(warp, block.worker.launch.order);
}

void release_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place) {
  Block& block = *warp.block;
  if (!block.worker.kernel.synchronises_blocks) return;
  if (op.releases) block.releases.prepare(warp);
  for_each_address(shape, place, [&](std::uint64_t address) {
    block.releases.publish(warp, address, block.worker.launch.order);
  });
}

void acquire_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place) {
  Block& block = *warp.block;
  if (!block.worker.kernel.synchronises_blocks) return;
  for_each_address(shape, place, [&](std::uint64_t address) {
    block.releases.observe(warp, address, op.acquires, block.worker.launch.order);
  });
}

}  // namespace rung::vgpu
