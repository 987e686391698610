#include "vgpu/observers/bulk_races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/observers/global_access.hpp"

namespace rung::vgpu {
namespace {

int thread_of(const AsyncAccess& access) {
  return access.warp.block->thread(access.warp, access.lane);
}

GlobalAccess bulk_access(const AsyncAccess& access, const GlobalRange& range, bool writes,
                         bool atomic, bool in_flight) {
  return global_access(*access.warp.block, access.warp, *range.allocation,
                       {access.site, range.bytes, access.what, writes, atomic, true, in_flight});
}

/// Calls f(granule, start of the range) for each granule entirely inside the range, until f returns
/// false. The granules at the ends may belong to other rows of the box, too.
template <class F>
void for_each_granule(const GlobalAccess& access, const GlobalRange& range, const F& f) {
  const std::uint64_t begin = range.address - access.allocation.address;
  const std::uint64_t size = access.granule_bytes;
  const std::uint64_t end = (begin + range.bytes) / size;
  spread_rows(access, begin, begin + range.bytes);
  for (std::uint64_t granule = (begin + size - 1) / size; granule < end; ++granule) {
    if (!f(granule, begin)) return;
  }
}

/// True if a thread's write, which is ordered before the bulk copy, is visible to it.
bool is_fenced(const GlobalAccess& access, int thread, GlobalStamp written) {
  const Block& block = access.block;
  const Stamp stamp = within_block(written);
  const int warp = stamp_thread(stamp) / warp_size;
  if (block_number_of(written) == block_number_of(access.stamp)) {
    return block.releases.is_fenced(warp, stamp_time(stamp));
  }
  const LaunchState& launch = block.worker.launch;
  const std::uint64_t other = block_number_of(written) - launch.first_block;
  const auto knows = [&](const Acquired& acquired, Proxy proxy) {
    return launch.order.knows(acquired, other, warp, stamp_time(stamp), proxy);
  };
  return knows(block.releases.fenced(), Proxy::generic) ||
         knows(block.releases.acquired(thread), Proxy::async);
}

/// Checks that a proxy fence is between a thread's write and the copy. Returns false after a
/// report.
bool check_fence(const GlobalAccess& access, int thread, std::size_t granule) {
  const GlobalStamp written = load_relaxed(access.shadow.written[granule]);
  if (written < access.oldest) return true;
  const auto number = load_relaxed(access.shadow.write_site[granule]);
  const Site& site = access.block.worker.kernel.sites[number];
  if (site.role == SiteRole::bulk_store || is_fenced(access, thread, written)) return true;
  const std::uint64_t address = access.allocation.address + granule * access.granule_bytes;
  report(access.block, HazardKind::missing_fence, thread, access.site, access.what,
         access.block.worker.launch.memory.describe(address),
         fmt::format("there is no fence.proxy.async since the write at {} (PTX line {})",
                     site.where.empty() ? site.mnemonic : site.where, site.ptx_line));
  return false;
}

}  // namespace

void check_bulk_read(const AsyncAccess& access, const GlobalRange& range) {
  if (!access.warp.block->worker.launch.orders(*range.allocation)) return;
  const GlobalAccess read = bulk_access(access, range, false, false, false);
  if (!was_written(read)) return;
  const int thread = thread_of(access);
  for_each_granule(read, range, [&](std::size_t granule, std::uint64_t begin) {
    return check_granule(read, thread, granule, begin) && check_fence(read, thread, granule);
  });
}

void check_bulk_sources(Block& block, int thread, std::uint32_t site, const char* what,
                        const GlobalRange& written) {
  for (const Landing& landing : block.cluster.landings) {
    for (const GlobalRange& read : landing.sources) {
      const std::uint64_t begin = std::max(read.address, written.address);
      const std::uint64_t end =
          std::min(read.address + read.bytes, written.address + written.bytes);
      if (begin >= end) continue;
      report_global_race(block, thread, site, what, block.cluster.block(landing.rank).linear,
                         landing.thread, landing.site, "bulk copy", begin);
      return;
    }
  }
}

void note_bulk_write(const AsyncAccess& access, const GlobalRange& range, bool atomic,
                     int first_lane) {
  if (range.allocation->stamps == nullptr) return;
  const GlobalAccess write = bulk_access(access, range, true, atomic, true);
  mark(range.allocation->copied_in_launch, write);
  mark(*write.shadow.written_in_launch, write);
  const int thread = thread_of(access);
  check_bulk_sources(*access.warp.block, thread, access.site, access.what, range);
  bool fine = true;
  if (first_lane != access.lane) {
    const Block& block = *access.warp.block;
    report_same_value(*access.warp.block, thread, access.site, block.linear,
                      block.thread(access.warp, first_lane), access.site, range.address, false);
    fine = false;  // skips the remaining checks
  }
  for_each_granule(write, range, [&](std::size_t granule, std::uint64_t begin) {
    fine = fine && check_granule(write, thread, granule, begin);
    note_granule(write, thread, granule);
    return true;
  });
}

void complete_bulk_write(const AsyncAccess& access, const GlobalRange& range, bool atomic) {
  if (range.allocation->stamps == nullptr) return;
  const GlobalAccess before = bulk_access(access, range, true, atomic, true);
  const GlobalAccess after = bulk_access(access, range, true, atomic, false);
  const int thread = thread_of(access);
  const GlobalStamp mine = before.stamp + static_cast<Stamp>(thread);
  for_each_granule(after, range, [&](std::size_t granule, std::uint64_t) {
    if (load_relaxed(after.shadow.written[granule]) == mine) note_granule(after, thread, granule);
    return true;
  });
}

}  // namespace rung::vgpu
