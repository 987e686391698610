#include "vgpu/observers/global_races.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/observers/stored_values.hpp"

namespace rung::vgpu {
namespace {

constexpr int block_shift = 32;

std::uint64_t load(std::uint64_t& stamp) {
  return std::atomic_ref(stamp).load(std::memory_order_relaxed);
}
void store(std::uint64_t& stamp, std::uint64_t value) {
  std::atomic_ref(stamp).store(value, std::memory_order_relaxed);
}
void store(std::uint16_t& site, std::uint32_t value) {
  std::atomic_ref(site).store(static_cast<std::uint16_t>(value), std::memory_order_relaxed);
}
std::uint16_t load(std::uint16_t& site) {
  return std::atomic_ref(site).load(std::memory_order_relaxed);
}

std::uint64_t block_of(std::uint64_t stamp) { return (stamp >> block_shift) - 1; }
Stamp within_block(std::uint64_t stamp) { return static_cast<Stamp>(stamp); }

struct GlobalAccess {
  Block& block;
  const Warp& warp;
  const MemoryOp& op;
  const char* what;
  int thread;
  bool atomic;
  std::uint64_t address;
};

// A write is recorded before it is made. When another block's is missing for longer than this, it
// wrote something else.
constexpr std::chrono::milliseconds longest_store{2};

bool in_order(const GlobalAccess& access, std::uint64_t stamp) {
  if (stamp == 0) return true;
  const Block& block = access.block;
  const Stamp other = within_block(stamp);
  if (block_of(stamp) == block.linear) {
    return block.order.ordered_in_device_memory(other, access.thread);
  }
  return block.worker.launch.order.knows(block.releases.acquired(access.thread), block_of(stamp),
                                         stamp_thread(other) / warp_size, stamp_time(other));
}

/// An atomic write is ordered before threads that have acquired at its address.
bool is_seen(const GlobalAccess& access, std::uint64_t written) {
  if ((within_block(written) & stamp_atomic) == 0) return false;
  return access.block.releases.has_acquired(access.thread, access.address);
}

void race(const GlobalAccess& access, std::uint64_t address, std::uint64_t other,
          std::uint32_t site, const char* what) {
  // Volatile and relaxed accesses have the stamps of atomics.
  const std::vector<Site>& sites = access.block.worker.kernel.sites;
  const bool is_atomic = site < sites.size() && sites[site].role == SiteRole::global_atomic;
  report_global_race(access.block, access.thread, access.op.site, access.what, block_of(other),
                     stamp_thread(within_block(other)), site, is_atomic ? "atomic" : what, address);
}

/// Whether a plain write, which is not ordered with another plain one, changes nothing there.
bool is_same_value(const GlobalAccess& access, std::uint64_t address, std::uint64_t other,
                   std::uint32_t other_site) {
  if (access.atomic || (within_block(other) & stamp_atomic) != 0) return false;
  const Block& block = access.block;
  const auto matches = [&] {
    const StoredGranule granule{access.warp, access.thread % warp_size, access.op.site,
                                static_cast<std::uint32_t>(address - access.address),
                                static_cast<std::uint32_t>(block.worker.kernel.global_granule)};
    return stores_present_value(block.worker.kernel, granule,
                                reinterpret_cast<const std::byte*>(address));
  };
  if (matches()) return true;
  const bool runs_alone = block.worker.launch.options.threads == 1;
  if (runs_alone || block_of(other) == block.linear ||
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

void check(const GlobalAccess& access, GlobalGranule& granule, std::uint64_t address, bool writes) {
  const std::uint64_t written = load(granule.written);
  // Loops around atomicCAS begin with a plain read of a word that others access atomically.
  const bool harmless = (access.atomic || !writes) && (within_block(written) & stamp_atomic) != 0;
  if (!harmless && !in_order(access, written) && !is_seen(access, written)) {
    const std::uint32_t site = load(granule.write_site);
    if (!writes || !is_same_value(access, address, written, site)) {
      race(access, address, written, site, "write");
      return;
    }
    report_same_value(access.block, access.thread, access.op.site, block_of(written),
                      stamp_thread(within_block(written)), site, address, false);
  }
  if (!writes || access.atomic) return;
  for (const bool first : {true, false}) {
    const std::uint64_t reader = load(first ? granule.first_reader : granule.other_reader);
    if (in_order(access, reader)) continue;
    race(access, address, reader, load(first ? granule.first_read_site : granule.other_read_site),
         "read");
    return;
  }
}

void note(const GlobalAccess& access, GlobalGranule& granule, std::uint64_t stamp, bool writes) {
  if (writes) {
    store(granule.written, stamp);
    store(granule.write_site, access.op.site);
    return;
  }
  const std::uint64_t before = load(granule.first_reader);
  const bool mine = before == 0 || (block_of(before) == access.block.linear &&
                                    stamp_thread(within_block(before)) == access.thread);
  store(mine ? granule.first_reader : granule.other_reader, stamp);
  store(mine ? granule.first_read_site : granule.other_read_site, access.op.site);
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
  const auto granule_bytes = static_cast<std::uint64_t>(block.worker.kernel.global_granule);
  auto* granules = reinterpret_cast<GlobalGranule*>(allocation.stamps);
  const bool writes = kind != AccessKind::load;
  const bool atomic = kind == AccessKind::atomic || op.relaxed;

  const auto visit = [&](std::uint64_t shape_address, int lane, bool again) {
    const std::uint64_t begin = place.address(shape_address, lane) - allocation.address;
    const int thread = block.thread(warp, lane);
    const GlobalAccess access{
        block, warp, op, name(kind), thread, atomic, allocation.address + begin};
    const std::uint64_t stamp = (block.linear + 1) << block_shift | (atomic ? stamp_atomic : 0) |
                                make_stamp(block.order.segment(warp.index), thread);
    for (std::uint64_t i = begin / granule_bytes;
         i <= (begin + op.access_bytes() - 1) / granule_bytes; ++i) {
      if (!again) check(access, granules[i], allocation.address + i * granule_bytes, writes);
      note(access, granules[i], stamp, writes);
    }
  };
  if (shape.kind == Shape::Kind::linear) {
    for (int lane = 0; lane < warp_size; ++lane) visit(shape.address(lane), lane, false);
  } else {
    const auto& unique = shape.unique_distances();
    for (int i = 0; i < shape.uniques(); ++i) {
      const std::uint64_t address = shape.low + unique[i].distance;
      visit(address, unique[i].first, false);
      if (unique[i].second != unique[i].first) visit(address, unique[i].second, true);
    }
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
