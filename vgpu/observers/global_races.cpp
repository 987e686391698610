#include "vgpu/observers/global_races.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/memory/launch_accesses.hpp"
#include "vgpu/observers/bulk_races.hpp"
#include "vgpu/observers/global_access.hpp"
#include "vgpu/observers/global_rows.hpp"
#include "vgpu/observers/row_stamps.hpp"

namespace rung::vgpu {
namespace {

/// Records a thread's access, and checks it unless another lane was checked for the same address
/// (`again`).
void visit(const GlobalAccess& access, int thread, std::uint64_t begin, bool again) {
  const std::uint64_t last = (begin + access.bytes - 1) >> access.granule_shift;
  for (std::uint64_t granule = begin >> access.granule_shift; granule <= last; ++granule) {
    if (!again) check_granule(access, thread, granule, begin);
    note_granule(access, thread, granule);
  }
}

/// Converts row stamps of the granules that the lanes access to stamps of granules.
void spread_rows(const GlobalAccess& access, const Shape& shape, std::uint64_t low) {
  const std::uint32_t bytes = access.bytes;
  if (shape.high - shape.low < warp_size * RowStamp::bytes / 2) {
    spread_rows(access, low, low + (shape.high - shape.low) + bytes);
    return;
  }
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const std::uint64_t begin = low + shape.distance[first_lane(left)];
    spread_rows(access, begin, begin + bytes);
  }
}

/// The lanes' accesses as rows, if they are adjacent in each half of the warp; otherwise nullopt.
std::optional<HalfWarps> half_warps(const Shape& shape, std::uint32_t bytes, std::uint64_t low) {
  constexpr int half = warp_size / 2;
  HalfWarps halves{{}, {shape.mask & 0xFFFFu, shape.mask >> half}, bytes};
  for (std::size_t i = 0; i < halves.begin.size(); ++i) {
    if (halves.lanes[i] == 0) continue;
    const int first = static_cast<int>(i) * half;
    const auto begin_of = [&](int lane) {
      return shape.distance[first + lane] - static_cast<std::uint64_t>(lane) * bytes;
    };
    const std::uint64_t begin = begin_of(first_lane(halves.lanes[i]));
    const bool known = shape.mask == all_lanes && shape.halves_linear;
    if (known && shape.half_stride != static_cast<std::int32_t>(bytes)) return std::nullopt;
    for (Mask left = known ? 0 : halves.lanes[i]; left != 0; left &= left - 1) {
      if (begin_of(first_lane(left)) != begin) return std::nullopt;
    }
    halves.begin[i] = low + begin;
  }
  return halves;
}

/// Handles all lanes at once if their accesses are adjacent and obviously ordered after all earlier
/// ones; otherwise returns false. `low`: offset of the lowest address in the allocation.
bool visit_row(const GlobalAccess& access, const Warp& warp, const Shape& shape,
               std::uint64_t low) {
  const std::uint32_t bytes = access.bytes;
  const bool whole = shape.kind == Shape::Kind::linear &&
                     shape.stride == static_cast<std::int64_t>(bytes) && !access.atomic;
  if (!whole && !access.alone) return false;
  const GlobalRow row{access.shadow,
                      low >> access.granule_shift,
                      std::countr_zero(bytes) - access.granule_shift,
                      access.stamp + static_cast<Stamp>(access.block.thread(warp, 0)),
                      access.oldest,
                      access.safe,
                      static_cast<std::uint16_t>(access.site)};
  const RowLaunch launch = row_launch(access);
  if (access.alone && has_rows(launch)) {
    const auto halves = access.atomic ? std::nullopt : half_warps(shape, bytes, low);
    if (halves && visit_rows(launch, row, *halves, access.writes)) return true;
    spread_rows(access, shape, low);
  }
  if (!whole) return false;
  return access.writes ? write_global_row(row, was_read(access), was_reread(access))
                       : read_global_row(row, access.alone);
}

/// visit_row() for lanes with separate addresses.
bool visit_lanes(const GlobalAccess& access, const Warp& warp, Shape& shape, std::uint64_t low) {
  constexpr int few = 4;  // for fewer lanes, the general way is as fast
  const std::uint32_t bytes = access.bytes;
  const bool whole = bytes <= widest_aligned && bytes >= access.granule_bytes;
  if (!whole || shape.uniques() < few) return false;
  if (access.atomic && has_plain_writes(access)) return false;
  GlobalPlaces places;
  const GlobalStamp of_warp = access.stamp + static_cast<Stamp>(access.block.thread(warp, 0));
  const auto& unique = shape.unique_distances();
  const int count = shape.uniques();
  for (int i = 0; i < count; ++i) {
    places.add((low + unique[i].distance) >> access.granule_shift, of_warp + unique[i].first,
               of_warp + unique[i].second);
  }
  const GlobalLanes lanes{access.shadow, places,      bytes >> access.granule_shift,
                          access.oldest, access.safe, static_cast<std::uint16_t>(access.site),
                          access.atomic};
  if (access.writes) return write_global_lanes(lanes, was_read(access), was_reread(access));
  if (was_written(access) && !check_global_reads(lanes)) return false;
  for (std::size_t i = 0; i < places.count; ++i) {
    const auto first = static_cast<std::size_t>(places.first[i]);
    for (std::size_t granule = first; granule < first + lanes.granules; ++granule) {
      note_granule(access, access.block.thread(warp, unique[i].first), granule);
      if (unique[i].second == unique[i].first) continue;
      note_granule(access, access.block.thread(warp, unique[i].second), granule);
    }
  }
  return true;
}

/// Handles an access by all lanes to rows that no other thread has accessed in this launch, without
/// preparing anything for other cases. `begin`: offset of the lowest address in the allocation.
bool visit_own_rows(Block& block, const Warp& warp, const Allocation& allocation,
                    const MemoryOp& op, const Shape& shape, std::uint64_t begin, bool writes) {
  const LaunchState& launch = block.worker.launch;
  const std::uint32_t bytes = op.access_bytes();
  const auto stride = static_cast<std::int64_t>(bytes);
  const bool adjacent =
      (shape.kind == Shape::Kind::linear && shape.stride == stride) ||
      (shape.mask == all_lanes && shape.halves_linear && shape.half_stride == stride);
  if (!adjacent || launch.options.threads != 1 || allocation.rows.all_apart ||
      allocation.rows.launch != launch.first_block) {
    return false;
  }
  if (!writes) store_relaxed(allocation.read_in_launch, launch.first_block);
  const Stamp own = make_stamp(block.order.segment(warp.index), block.thread(warp, 0));
  const GlobalShadow shadow(allocation);
  if (writes) store_relaxed(*shadow.written_in_launch, launch.first_block);
  const GlobalStamp oldest = make_global_stamp(launch.first_block, 0);
  const GlobalRow row{shadow,
                      0,
                      0,
                      make_global_stamp(launch.first_block + block.linear, own),
                      oldest,
                      0,
                      static_cast<std::uint16_t>(op.site)};
  const auto granule = static_cast<std::uint64_t>(block.worker.kernel.global_granule);
  const HalfWarps halves{
      {begin + shape.distance[0], begin + shape.distance[warp_size / 2]}, {0xFFFF, 0xFFFF}, bytes};
  for (const std::uint64_t half : halves.begin) {
    // Prefetches for the next warp, whose distance from this warp is probably that of this warp
    // from the previous one. Not a function: GCC removes calls of functions that only prefetch.
    const std::uint64_t next = (half + shape.moved_by) / RowStamp::bytes;
    __builtin_prefetch(shadow.written_rows + next, 1);
    __builtin_prefetch(shadow.read_rows + next, 1);
  }
  return visit_own_rows({shadow, launch.first_block, granule, oldest}, row, halves, writes);
}

template <class F>
void for_each_address(Shape& shape, const Place& place, const F& f) {
  for (int i = 0; i < shape.uniques(); ++i) {
    f(shape.low + shape.unique_distances()[i].distance + place.bias);
  }
}

/// Checks a write against bulk copies that are in flight.
void check_landings(Block& block, const Warp& warp, const MemoryOp& op, Shape& shape,
                    const Place& place, const char* what) {
  const auto reads_allocation = [&](const Landing& landing) {
    return !landing.sources.empty() && landing.sources.front().allocation == place.allocation;
  };
  if (std::ranges::none_of(block.cluster.landings, reads_allocation)) return;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const std::uint64_t address = place.address(shape.address(lane), lane);
    check_bulk_sources(block, block.thread(warp, lane), op.site, what,
                       {place.allocation, address, op.access_bytes()});
  }
}

}  // namespace

void observe_global_order(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                          const Place& place, AccessKind kind) {
  const Allocation& allocation = *place.allocation;
  const bool atomic = kind == AccessKind::atomic || op.relaxed;
  const bool writes = kind != AccessKind::load;
  const std::uint64_t begin = place.address(shape.low, 0) - allocation.address;
  if (writes && !block.cluster.landings.empty()) {
    check_landings(block, warp, op, shape, place, name(kind));
  }
  const bool is_late = op.read_only && load_relaxed(*GlobalShadow(allocation).written_in_launch) ==
                                           block.worker.launch.first_block;
  if (!atomic && !is_late && visit_own_rows(block, warp, allocation, op, shape, begin, writes))
    return;
  const GlobalAccess access = global_access(block, warp, allocation,
                                            {.site = op.site,
                                             .bytes = op.access_bytes(),
                                             .what = op.read_only ? "read-only load" : name(kind),
                                             .writes = writes,
                                             .atomic = atomic,
                                             .block_scope = op.block_scope,
                                             .read_only = op.read_only});
  mark(writes ? *access.shadow.written_in_launch : allocation.read_in_launch, access);
  if (is_late) {
    if (access.alone && has_rows(row_launch(access))) spread_rows(access, shape, begin);
  } else if (visit_row(access, warp, shape, begin) ||
             (!op.block_scope && visit_lanes(access, warp, shape, begin))) {
    return;
  }

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
  if (block.worker.touched != nullptr) block.worker.touched->note_acquire();
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
  if (block.worker.touched != nullptr && block.releases.has_fenced(warp)) {
    block.worker.touched->note_release();
  }
}

void acquire_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place) {
  Block& block = *warp.block;
  if (block.worker.touched != nullptr && op.acquires) block.worker.touched->note_acquire();
  if (!block.worker.kernel.synchronises_blocks) return;
  for_each_address(shape, place, [&](std::uint64_t address) {
    block.releases.observe(warp, address, op.acquires, block.worker.launch.order);
  });
}

}  // namespace rung::vgpu
