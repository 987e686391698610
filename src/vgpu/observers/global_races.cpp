#include "vgpu/observers/global_races.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <thread>
#include <type_traits>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/happens_before/global_shadow.hpp"
#include "vgpu/observers/global_rows.hpp"
#include "vgpu/observers/stored_values.hpp"

namespace rung::vgpu {
namespace {

template <class T>
T load(T& shared) {
  return std::atomic_ref(shared).load(std::memory_order_relaxed);
}
template <class T>
void store(T& shared, std::type_identity_t<T> value) {
  std::atomic_ref(shared).store(value, std::memory_order_relaxed);
}

/// What all lanes of an access have in common.
struct GlobalAccess {
  Block& block;
  const Warp& warp;
  const MemoryOp& op;
  const Allocation& allocation;
  const GlobalShadow shadow;
  const char* what;
  bool writes, atomic;
  std::uint64_t granule_bytes;
  GlobalStamp stamp;   // of thread 0 of the block
  GlobalStamp oldest;  // smaller stamps are of earlier launches
  Stamp safe;          // smaller ones, of this block, are ordered before the warp's accesses
  bool alone;          // no other CPU thread runs blocks of the launch
};

// A write is recorded before it is made. When another block's is missing for longer than this, it
// wrote something else.
constexpr std::chrono::milliseconds longest_store{2};

std::uint64_t block_of(const GlobalAccess& access, GlobalStamp stamp) {
  return block_number_of(stamp) - access.block.worker.launch.first_block;
}

// Whether the launch has recorded reads in the allocation, and second readers of a granule. Most
// allocations that are written have none, and the pages of their stamps are never touched.
bool was_read(const GlobalAccess& access) {
  return load(access.allocation.read_in_launch) == access.block.worker.launch.first_block;
}
bool was_reread(const GlobalAccess& access) {
  return load(access.allocation.reread_in_launch) == access.block.worker.launch.first_block;
}
void mark(std::uint64_t& launch, const GlobalAccess& access) {
  const std::uint64_t current = access.block.worker.launch.first_block;
  if (load(launch) != current) store(launch, current);
}

bool in_order(const GlobalAccess& access, GlobalStamp stamp, int thread) {
  if (stamp < access.oldest) return true;
  const Block& block = access.block;
  const Stamp other = within_block(stamp);
  if (block_number_of(stamp) == block_number_of(access.stamp)) {
    return other < access.safe || block.order.ordered_in_device_memory(other, thread);
  }
  return block.worker.launch.order.knows(block.releases.acquired(thread), block_of(access, stamp),
                                         stamp_thread(other) / warp_size, stamp_time(other));
}

/// An atomic write is ordered before threads that have acquired at its address, which is that of the
/// access's first byte.
bool is_seen(const GlobalAccess& access, GlobalStamp written, int thread, std::uint64_t begin) {
  if ((within_block(written) & stamp_atomic) == 0) return false;
  return access.block.releases.has_acquired(thread, access.allocation.address + begin);
}

std::uint64_t address_of(const GlobalAccess& access, std::size_t granule) {
  return access.allocation.address + granule * access.granule_bytes;
}

void race(const GlobalAccess& access, int thread, std::size_t granule, GlobalStamp other,
          std::uint32_t site, const char* what) {
  // Volatile and relaxed accesses have the stamps of atomics.
  const std::vector<Site>& sites = access.block.worker.kernel.sites;
  const bool is_atomic = site < sites.size() && sites[site].role == SiteRole::global_atomic;
  report_global_race(access.block, thread, access.op.site, access.what, block_of(access, other),
                     stamp_thread(within_block(other)), site, is_atomic ? "atomic" : what,
                     address_of(access, granule));
}

/// Whether a plain write, which is not ordered with another plain one, changes nothing there.
bool is_same_value(const GlobalAccess& access, int thread, std::size_t granule, std::uint64_t begin,
                   GlobalStamp other, std::uint32_t other_site) {
  if (access.atomic || (within_block(other) & stamp_atomic) != 0) return false;
  const Block& block = access.block;
  const std::uint64_t address = address_of(access, granule);
  const auto matches = [&] {
    const StoredGranule stored{access.warp, thread % warp_size, access.op.site,
                               static_cast<std::uint32_t>(granule * access.granule_bytes - begin),
                               static_cast<std::uint32_t>(access.granule_bytes)};
    return stores_present_value(block.worker.kernel, stored,
                                reinterpret_cast<const std::byte*>(address));
  };
  if (matches()) return true;
  if (access.alone || block_of(access, other) == block.linear ||
      block.worker.launch.hazards->has_race(access.op.site, other_site)) {
    return false;
  }
  const auto end = std::chrono::steady_clock::now() + longest_store;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    if (matches()) return true;
  }
  return false;
}

/// Whether these comparisons suffice to see that the stamp is in order.
bool is_plainly_in_order(const GlobalAccess& access, GlobalStamp found, GlobalStamp own) {
  if (found < access.oldest) return true;
  const GlobalStamp difference = found ^ own;
  return block_number_of(difference) == 0 &&
         ((difference & stamp_thread_mask) == 0 || within_block(found) < access.safe);
}

/// Whether all that check() looks at is.
bool is_plain(const GlobalAccess& access, int thread, std::size_t granule) {
  const GlobalShadow& shadow = access.shadow;
  const GlobalStamp own = access.stamp + static_cast<Stamp>(thread);
  const GlobalStamp written = load(shadow.written[granule]);
  const bool both_atomic = access.atomic && (within_block(written) & stamp_atomic) != 0;
  if (!both_atomic && !is_plainly_in_order(access, written, own)) return false;
  if (!access.writes || access.atomic) return true;
  return (!was_read(access) ||
          is_plainly_in_order(access, load(shadow.first_reader[granule]), own)) &&
         (!was_reread(access) ||
          is_plainly_in_order(access, load(shadow.other_reader[granule]), own));
}

/// `begin`: of the thread's access, in the allocation.
void check(const GlobalAccess& access, int thread, std::size_t granule, std::uint64_t begin) {
  const GlobalShadow& shadow = access.shadow;
  const GlobalStamp written = load(shadow.written[granule]);
  // Loops around atomicCAS begin with a plain read of a word that others access atomically.
  const bool harmless =
      (access.atomic || !access.writes) && (within_block(written) & stamp_atomic) != 0;
  if (!in_order(access, written, thread) && !harmless && !is_seen(access, written, thread, begin)) {
    const std::uint32_t site = load(shadow.write_site[granule]);
    if (!access.writes || !is_same_value(access, thread, granule, begin, written, site)) {
      race(access, thread, granule, written, site, "write");
      return;
    }
    report_same_value(access.block, thread, access.op.site, block_of(access, written),
                      stamp_thread(within_block(written)), site, address_of(access, granule),
                      false);
  }
  if (!access.writes || access.atomic) return;
  for (const bool first : {true, false}) {
    if (!(first ? was_read(access) : was_reread(access))) continue;
    const GlobalStamp reader =
        load(first ? shadow.first_reader[granule] : shadow.other_reader[granule]);
    if (in_order(access, reader, thread)) continue;
    const auto site =
        load(first ? shadow.first_read_site[granule] : shadow.other_read_site[granule]);
    race(access, thread, granule, reader, site, "read");
    return;
  }
}

void note(const GlobalAccess& access, int thread, std::size_t granule) {
  const GlobalShadow& shadow = access.shadow;
  const GlobalStamp stamp = access.stamp + static_cast<Stamp>(thread);
  const auto site = static_cast<std::uint16_t>(access.op.site);
  if (access.writes) {
    store(shadow.written[granule], stamp);
    store(shadow.write_site[granule], site);
    return;
  }
  const bool first =
      claim_first_reader(shadow.first_reader[granule], stamp, access.oldest, access.alone);
  if (!first) {
    mark(access.allocation.reread_in_launch, access);
    store(shadow.other_reader[granule], stamp);
  }
  store(first ? shadow.first_read_site[granule] : shadow.other_read_site[granule], site);
}

/// Checks, unless a lane has done so for the same address, and records a thread's access.
void visit(const GlobalAccess& access, int thread, std::uint64_t begin, bool again) {
  const std::uint64_t last = (begin + access.op.access_bytes() - 1) / access.granule_bytes;
  for (std::uint64_t granule = begin / access.granule_bytes; granule <= last; ++granule) {
    if (!again && !is_plain(access, thread, granule)) check(access, thread, granule, begin);
    note(access, thread, granule);
  }
}

/// If the lanes' accesses are adjacent, and plainly ordered after all earlier ones, deals with all
/// at once.
bool visit_row(const GlobalAccess& access, const Warp& warp, const Shape& shape,
               const Place& place) {
  const std::uint32_t bytes = access.op.access_bytes();
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
                      static_cast<std::uint16_t>(access.op.site)};
  return access.writes ? write_global_row(row, was_read(access), was_reread(access))
                       : read_global_row(row, access.alone);
}

/// Whether anything in this launch may write to the allocation.
bool may_be_written(const LaunchState& launch, const Allocation& allocation) {
  if (launch.writes_anywhere) return true;
  return std::find(launch.written.begin(), launch.written.end(), &allocation) !=
         launch.written.end();
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
  const LaunchState& launch = block.worker.launch;
  const Allocation& allocation = *place.allocation;
  if (allocation.stamps == nullptr || !may_be_written(launch, allocation)) return;
  const bool atomic = kind == AccessKind::atomic || op.relaxed;
  const bool writes = kind != AccessKind::load;
  const Stamp own = (atomic ? stamp_atomic : 0) | make_stamp(block.order.segment(warp.index), 0);
  const GlobalAccess access{block,
                            warp,
                            op,
                            allocation,
                            GlobalShadow(allocation),
                            name(kind),
                            writes,
                            atomic,
                            static_cast<std::uint64_t>(block.worker.kernel.global_granule),
                            make_global_stamp(launch.first_block + block.linear, own),
                            make_global_stamp(launch.first_block, 0),
                            block.order.safe_below_in_device_memory(warp.index),
                            launch.options.threads == 1};
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
  block.releases.fence(warp);
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
