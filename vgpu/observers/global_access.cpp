#include "vgpu/observers/global_access.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/observers/stored_values.hpp"

namespace rung::vgpu {
namespace {

// A write is recorded before it is made. If another block's value is still missing after this time,
// that block wrote another value.
constexpr std::chrono::milliseconds longest_store{2};

std::uint64_t block_of(const GlobalAccess& access, GlobalStamp stamp) {
  return block_number_of(stamp) - access.block.worker.launch.first_block;
}

/// True if the other access is an atomic write, and the thread has acquired at its address, which
/// is that of the access's first byte.
bool is_seen(const GlobalAccess& access, GlobalStamp written, int thread, std::uint64_t begin) {
  if ((within_block(written) & stamp_atomic) == 0) return false;
  return access.block.releases.has_acquired(thread, access.allocation.address + begin);
}

std::uint64_t address_of(const GlobalAccess& access, std::size_t granule) {
  return access.allocation.address + granule * access.granule_bytes;
}

/// True if a plain write that is not ordered with another plain write does not change the value
/// there.
bool is_same_value(const GlobalAccess& access, int thread, std::size_t granule, std::uint64_t begin,
                   GlobalStamp other, std::uint32_t other_site) {
  if (access.copies || access.atomic || (within_block(other) & stamp_atomic) != 0) return false;
  const Block& block = access.block;
  const std::uint64_t address = address_of(access, granule);
  const auto matches = [&] {
    const StoredGranule stored{access.warp, thread % warp_size, access.site,
                               static_cast<std::uint32_t>(granule * access.granule_bytes - begin),
                               static_cast<std::uint32_t>(access.granule_bytes)};
    return stores_present_value(block.worker.kernel, stored, access.allocation.data(address));
  };
  if (matches()) return true;
  if (access.alone || block_of(access, other) == block.linear ||
      block.worker.launch.hazards->has_race(access.site, other_site)) {
    return false;
  }
  const auto end = std::chrono::steady_clock::now() + longest_store;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    if (matches()) return true;
  }
  return false;
}

/// True if the other access, and this one if it is a write, are atomic for each other. They are not if the later one
/// has the scope of another block (PTX ISA, 8.7, morally strong operations).
bool is_atomic_with(const GlobalAccess& access, GlobalStamp other) {
  if ((within_block(other) & stamp_atomic) == 0 || (access.writes && !access.atomic)) return false;
  return !access.block_scope || block_number_of(other) == block_number_of(access.stamp);
}

/// True if simple comparisons show that the stamp is in order.
bool is_plainly_in_order(const GlobalAccess& access, GlobalStamp found, GlobalStamp own) {
  if (found < access.oldest) return true;
  const GlobalStamp difference = found ^ own;
  return block_number_of(difference) == 0 &&
         is_plainly_ordered(within_block(found), access.safe, stamp_thread(within_block(own)));
}

/// True if simple comparisons show that everything that check_granule() examines is in order.
bool is_plain(const GlobalAccess& access, int thread, std::size_t granule) {
  const GlobalShadow& shadow = access.shadow;
  const GlobalStamp own = access.stamp + static_cast<Stamp>(thread);
  const GlobalStamp written = load_relaxed(shadow.written[granule]);
  const bool both_atomic = access.atomic && is_atomic_with(access, written);
  if (!both_atomic && !is_plainly_in_order(access, written, own)) return false;
  if (both_atomic && has_plain_writes(access) &&
      !is_plainly_in_order(access, load_relaxed(shadow.plain_write[granule]), own)) {
    return false;
  }
  if (!access.writes || access.atomic) return true;
  return (!was_read(access) ||
          is_plainly_in_order(access, load_relaxed(shadow.first_reader[granule]), own)) &&
         (!was_reread(access) ||
          is_plainly_in_order(access, load_relaxed(shadow.other_reader[granule]), own));
}

}  // namespace

GlobalAccess global_access(Block& block, const Warp& warp, const Allocation& allocation,
                           const AccessOfWarp& access) {
  const LaunchState& launch = block.worker.launch;
  const std::uint32_t time = access.in_flight ? pending_time : block.order.segment(warp.index);
  const Stamp own = (access.atomic ? stamp_atomic : 0) | make_stamp(time, 0);
  return {block,
          warp,
          allocation,
          GlobalShadow(allocation),
          access.site,
          access.bytes,
          access.what,
          access.writes,
          access.atomic,
          access.copies,
          access.block_scope,
          access.read_only,
          static_cast<std::uint64_t>(block.worker.kernel.global_granule),
          std::countr_zero(static_cast<unsigned>(block.worker.kernel.global_granule)),
          make_global_stamp(launch.first_block + block.linear, own),
          make_global_stamp(launch.first_block, 0),
          block.order.safe_below_in_device_memory(warp.index),
          launch.options.threads == 1};
}

RowLaunch row_launch(const GlobalAccess& access) {
  return {access.shadow, access.block.worker.launch.first_block, access.granule_bytes,
          access.oldest};
}

void spread_rows(const GlobalAccess& access, std::uint64_t begin, std::uint64_t end) {
  if (access.alone && begin < end) spread_rows(row_launch(access), begin, end);
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

bool was_written(const GlobalAccess& access) {
  return load_relaxed(*access.shadow.written_in_launch) == access.block.worker.launch.first_block;
}
bool was_read(const GlobalAccess& access) {
  return load_relaxed(access.allocation.read_in_launch) == access.block.worker.launch.first_block;
}
bool was_reread(const GlobalAccess& access) {
  return load_relaxed(access.allocation.reread_in_launch) == access.block.worker.launch.first_block;
}
bool has_plain_writes(const GlobalAccess& access) {
  return load_relaxed(access.allocation.plain_in_launch) == access.block.worker.launch.first_block;
}
void mark(std::uint64_t& launch, const GlobalAccess& access) {
  const std::uint64_t current = access.block.worker.launch.first_block;
  if (load_relaxed(launch) != current) store_relaxed(launch, current);
}

void report_unordered(const GlobalAccess& access, int thread, std::size_t granule,
                      GlobalStamp other, std::uint32_t site, const char* what) {
  // Volatile and relaxed accesses have the stamps of atomics.
  const std::vector<Site>& sites = access.block.worker.kernel.sites;
  const SiteRole role = site < sites.size() ? sites[site].role : SiteRole::other;
  if (role == SiteRole::global_atomic) what = "atomic";
  if (role == SiteRole::bulk_store) what = "bulk copy";
  report_global_race(access.block, thread, access.site, access.what, block_of(access, other),
                     stamp_thread(within_block(other)), site, what, address_of(access, granule));
}

namespace {

/// Keeps the plain write that an atomic is about to replace.
void keep_plain_write(const GlobalAccess& access, std::size_t granule) {
  const GlobalShadow& shadow = access.shadow;
  const GlobalStamp before = load_relaxed(shadow.written[granule]);
  const Stamp stamp = within_block(before);
  // A copy in flight would stay in flight here, and was reported.
  if (before < access.oldest || (stamp & stamp_atomic) != 0 || stamp_time(stamp) == pending_time) {
    return;
  }
  store_relaxed(shadow.plain_write[granule], before);
  store_relaxed(shadow.plain_write_site[granule], load_relaxed(shadow.write_site[granule]));
  mark(access.allocation.plain_in_launch, access);
}

}  // namespace

bool check_granule(const GlobalAccess& access, int thread, std::size_t granule,
                   std::uint64_t begin) {
  const GlobalShadow& shadow = access.shadow;
  const GlobalStamp written = load_relaxed(shadow.written[granule]);
  if (access.read_only && written >= access.oldest) {
    report_unordered(access, thread, granule, written, load_relaxed(shadow.write_site[granule]),
                     "write");
    return false;
  }
  if (is_plain(access, thread, granule)) return true;
  // Loops around atomicCAS begin with a plain read of a word that others access atomically.
  const bool harmless = is_atomic_with(access, written);
  if (!in_order(access, written, thread) && !harmless && !is_seen(access, written, thread, begin)) {
    const std::uint32_t site = load_relaxed(shadow.write_site[granule]);
    if (!access.writes || !is_same_value(access, thread, granule, begin, written, site)) {
      report_unordered(access, thread, granule, written, site, "write");
      return false;
    }
    report_same_value(access.block, thread, access.site, block_of(access, written),
                      stamp_thread(within_block(written)), site, address_of(access, granule),
                      false);
  }
  if (access.atomic && has_plain_writes(access) && (within_block(written) & stamp_atomic) != 0) {
    const GlobalStamp plain = load_relaxed(shadow.plain_write[granule]);
    if (!in_order(access, plain, thread)) {
      report_unordered(access, thread, granule, plain,
                       load_relaxed(shadow.plain_write_site[granule]), "write");
      return false;
    }
  }
  if (!access.writes || access.atomic) return true;
  for (const bool first : {true, false}) {
    if (!(first ? was_read(access) : was_reread(access))) continue;
    const GlobalStamp reader =
        load_relaxed(first ? shadow.first_reader[granule] : shadow.other_reader[granule]);
    if (in_order(access, reader, thread)) continue;
    const auto site =
        load_relaxed(first ? shadow.first_read_site[granule] : shadow.other_read_site[granule]);
    report_unordered(access, thread, granule, reader, site, "read");
    return false;
  }
  return true;
}

void note_granule(const GlobalAccess& access, int thread, std::size_t granule) {
  const GlobalShadow& shadow = access.shadow;
  const GlobalStamp stamp = access.stamp + static_cast<Stamp>(thread);
  const auto site = static_cast<std::uint16_t>(access.site);
  if (access.writes) {
    if (access.atomic) keep_plain_write(access, granule);
    store_relaxed(shadow.written[granule], stamp);
    store_relaxed(shadow.write_site[granule], site);
    return;
  }
  const bool first =
      claim_first_reader(shadow.first_reader[granule], stamp, access.oldest, access.alone);
  if (!first) {
    mark(access.allocation.reread_in_launch, access);
    store_relaxed(shadow.other_reader[granule], stamp);
  }
  store_relaxed(first ? shadow.first_read_site[granule] : shadow.other_read_site[granule], site);
}

}  // namespace rung::vgpu
