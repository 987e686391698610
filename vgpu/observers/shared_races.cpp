#include "vgpu/observers/shared_races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/memory/undefined.hpp"
#include "vgpu/observers/async_races.hpp"
#include "vgpu/observers/shared_lanes.hpp"
#include "vgpu/observers/stored_values.hpp"

namespace rung::vgpu {
namespace {

struct SharedAccess {
  Block& block;
  int thread;
  std::uint32_t site;
  const Warp* warp = nullptr;  // if the access is by a warp
  std::uint32_t begin = 0;     // and offset of the thread's access in shared memory
};

bool in_order(const SharedAccess& access, Stamp stamp) {
  return stamp == 0 || access.block.order.ordered(stamp, access.thread);
}

void race(const SharedAccess& access, const char* what, std::size_t granule, Stamp other,
          std::uint32_t other_site, const char* other_what) {
  const std::uint64_t offset = granule * static_cast<std::size_t>(access.block.shadow.granule);
  report_race(access.block, access.thread, access.site, what, stamp_thread(other), other_site,
              (other & stamp_atomic) != 0 ? "atomic" : other_what, offset,
              stamp_time(other) == pending_time);
}

/// True if a stamp represents a bulk copy or wgmma, recorded in happens_before/async_shadow.hpp.
bool is_async(const SharedAccess& access, std::size_t granule, Stamp stamp, bool of_write) {
  if (stamp_time(stamp) != pending_time || access.block.async == nullptr) return false;
  const auto offset = granule * static_cast<std::size_t>(access.block.shadow.granule);
  // A pending stamp may also be that of a cp.async.
  return !of_write || access.block.async->shadow.write_at(static_cast<std::uint32_t>(offset)) != 0;
}

/// Returns false, after a report, if an asynchronous operation there is not ordered before the
/// access.
bool async_in_order(const SharedAccess& access, std::size_t granule, const char* what) {
  const auto offset = granule * static_cast<std::size_t>(access.block.shadow.granule);
  return check_against_async(access.block, access.thread, access.site, what,
                             static_cast<std::uint32_t>(offset));
}

/// True if reading the granule, which was never written, is an error. The rules are those of global
/// memory (observers/coalescing.cpp).
bool is_error(const SharedAccess& access, std::size_t granule) {
  const auto& all_copied = access.block.worker.kernel.copied;
  const auto copied = all_copied.find(access.site);
  if (copied == all_copied.end() || access.warp == nullptr) return true;
  const SharedShadow& shadow = access.block.shadow;
  const CopiedElements& elements = copied->second;
  if (elements.used.empty()) return false;
  // A granule may begin before an access that is not aligned, and after the copied elements.
  const auto at =
      std::max(static_cast<std::uint32_t>(granule << shadow.granule_shift), access.begin);
  const std::size_t element = (at - access.begin) / elements.element_bytes;
  if (element >= elements.used.size() || elements.used[element]) return true;
  if (elements.follows_undefined && holds_undefined(access.block, granule)) return false;
  const std::size_t first = access.begin >> shadow.granule_shift;
  const std::size_t end = (access.begin + elements.bytes()) >> shadow.granule_shift;
  return std::none_of(shadow.written.begin() + static_cast<std::ptrdiff_t>(first),
                      shadow.written.begin() + static_cast<std::ptrdiff_t>(end),
                      [](Stamp stamp) { return stamp != 0; });
}

/// Starts the block again in its kernel's tracking version.
[[noreturn]] void track(const Block& block) {
  block.worker.kernel.tracking.wanted = true;
  throw RestartTracked();
}

void check_read(const SharedAccess& access, std::size_t granule) {
  const SharedShadow& shadow = access.block.shadow;
  const Stamp written = shadow.written[granule];
  if (written == 0) {
    const Kernel& kernel = access.block.worker.kernel;
    const bool tracked = access.warp != nullptr && kernel.tracks(access.site);
    if ((tracked && kernel.tracks_loads) || !is_error(access, granule)) return;
    if (tracked && access.block.can_restart) track(access.block);
    report_unwritten(access.block, access.thread, access.site,
                     granule * static_cast<std::size_t>(shadow.granule),
                     exited_threads(access.block));
  } else if (is_async(access, granule, written, true)) {
    async_in_order(access, granule, "read");
  } else if (!in_order(access, written)) {
    race(access, "read", granule, written, shadow.write_site[granule], "write");
  }
}

/// True if a plain write that is not ordered with another write does not change the value there.
bool is_same_value(const SharedAccess& access, std::size_t granule, Stamp other) {
  if (access.warp == nullptr || (other & stamp_atomic) != 0 || stamp_time(other) == pending_time) {
    return false;
  }
  const auto bytes = static_cast<std::uint32_t>(access.block.shadow.granule);
  const std::uint32_t offset = static_cast<std::uint32_t>(granule) * bytes;
  return stores_present_value(
      access.block.worker.kernel,
      {*access.warp, access.thread % warp_size, access.site, offset - access.begin, bytes},
      access.block.shared.data() + offset);
}

/// Checks a write. `what`: "write" or "atomic". Atomics do not race with each other.
void check_write(const SharedAccess& access, std::size_t granule, const char* what, bool atomic) {
  const SharedShadow& shadow = access.block.shadow;
  const Stamp written = shadow.written[granule];
  const Stamp first_reader = shadow.first_reader[granule];
  const bool async_write = is_async(access, granule, written, true);
  const bool async_read = is_async(access, granule, first_reader, false);
  if ((async_write || async_read) && !async_in_order(access, granule, what)) return;
  const bool both_atomic = atomic && (written & stamp_atomic) != 0;
  if (both_atomic && !in_order(access, shadow.plain_write_at(granule))) {
    race(access, what, granule, shadow.plain_write[granule], shadow.plain_write_site[granule],
         "write");
    return;
  }
  const bool collides = !both_atomic && !async_write && !in_order(access, written);
  if (collides && (atomic || !is_same_value(access, granule, written))) {
    race(access, what, granule, written, shadow.write_site[granule], "write");
    return;
  }
  if (collides) {
    report_same_value(access.block, access.thread, access.site, access.block.linear,
                      stamp_thread(written), shadow.write_site[granule],
                      granule * static_cast<std::size_t>(shadow.granule), true);
  }
  if (!async_read && !in_order(access, first_reader)) {
    race(access, what, granule, first_reader, shadow.first_read_site[granule], "read");
  } else if (!in_order(access, shadow.other_reader[granule])) {
    race(access, what, granule, shadow.other_reader[granule], shadow.other_read_site[granule],
         "read");
  }
}

/// Calls f(access, granule, again) for every granule of every distinct address, for one or two of
/// the lanes that share it. `again`: true for the second lane.
template <class F>
void for_each_granule(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                      std::int64_t offset, std::uint32_t bytes, const F& f) {
  const int shift = block.shadow.granule_shift;
  const auto visit = [&](const Shape::Unique& unique) {
    const std::uint64_t begin = shape.low + unique.distance + static_cast<std::uint64_t>(offset);
    for (std::uint64_t granule = begin >> shift; granule <= (begin + bytes - 1) >> shift;
         ++granule) {
      const auto at = static_cast<std::uint32_t>(begin);
      f(SharedAccess{block, block.thread(warp, unique.first), site, &warp, at}, granule, false);
      if (unique.second != unique.first) {
        f(SharedAccess{block, block.thread(warp, unique.second), site, &warp, at}, granule, true);
      }
    }
  };
  if (shape.kind == Shape::Kind::uniform) {
    visit({0, 0, 1});
    return;
  }
  const auto& unique = shape.unique_distances();
  std::for_each_n(unique.begin(), shape.uniques(), visit);
}

}  // namespace

bool is_undefined_read(Block& block, const Warp& warp, int lane, std::uint32_t site,
                       std::uint32_t begin, std::size_t granule) {
  return block.shadow.written[granule] == 0 &&
         (holds_undefined(block, granule) ||
          is_error({block, block.thread(warp, lane), site, &warp, begin}, granule));
}

void check_reads(Block& block, const Warp& warp, std::uint32_t site, std::size_t first,
                 int lane_shift) {
  const auto granule = static_cast<std::size_t>(block.shadow.granule);
  for (std::size_t i = 0; i < std::size_t{warp_size} << lane_shift; ++i) {
    const std::size_t lane = i >> lane_shift;
    const auto begin = static_cast<std::uint32_t>((first + (lane << lane_shift)) * granule);
    check_read({block, block.thread(warp, static_cast<int>(lane)), site, &warp, begin}, first + i);
  }
}

namespace {

/// True if all accesses to the granule are plainly ordered before the thread's access.
bool is_plainly_writable(const SharedShadow& shadow, std::size_t granule, Stamp safe, int thread) {
  return is_plainly_ordered(shadow.written[granule], safe, thread) &&
         is_plainly_ordered(shadow.first_reader[granule], safe, thread) &&
         is_plainly_ordered(shadow.other_reader[granule], safe, thread);
}

/// True if comparisons show that the granule is written, and that an atomic does not race with any
/// access to it.
bool is_plain_atomic(const SharedShadow& shadow, std::size_t granule, Stamp safe, int thread) {
  const Stamp written = shadow.written[granule];
  const Stamp plain = (written & stamp_atomic) != 0 ? shadow.plain_write_at(granule) : written;
  return written != 0 && is_plainly_ordered(plain, safe, thread) &&
         is_plainly_ordered(shadow.first_reader[granule], safe, thread) &&
         is_plainly_ordered(shadow.other_reader[granule], safe, thread);
}

}  // namespace

void check_writes(Block& block, const Warp& warp, std::uint32_t site, std::size_t first,
                  int lane_shift) {
  const Stamp safe = block.order.safe_below(warp.index);
  const auto granule = static_cast<std::size_t>(block.shadow.granule);
  for (std::size_t i = 0; i < std::size_t{warp_size} << lane_shift; ++i) {
    const std::size_t lane = i >> lane_shift;
    const auto begin = static_cast<std::uint32_t>((first + (lane << lane_shift)) * granule);
    const int thread = block.thread(warp, static_cast<int>(lane));
    if (is_plainly_writable(block.shadow, first + i, safe, thread)) continue;
    check_write({block, thread, site, &warp, begin}, first + i, "write", false);
  }
}

namespace {

/// True if comparisons show that everything that the lanes read was written before.
bool plainly_in_order(const SharedShadow& shadow, Shape& shape, std::int64_t offset,
                      std::uint32_t bytes, Stamp safe) {
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(offset);
  const auto granule = static_cast<std::uint32_t>(shadow.granule);
  if (((low | shape.low_bits | bytes) & (granule - 1)) != 0) return false;
  SharedPlaces places(bytes >> shadow.granule_shift);
  const auto& unique = shape.unique_distances();
  places.count = static_cast<std::size_t>(shape.uniques());
  for (std::size_t i = 0; i < places.count; ++i) {
    places.first[i] =
        static_cast<std::uint32_t>((low + unique[i].distance) >> shadow.granule_shift);
  }
  return are_written_before(shadow, safe, places);
}

}  // namespace

void check_read_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                       std::int64_t offset, std::uint32_t bytes) {
  SharedShadow& shadow = block.shadow;
  const Stamp safe = block.order.safe_below(warp.index);
  const auto low = static_cast<std::uint32_t>(shape.low + static_cast<std::uint64_t>(offset));
  const auto span = static_cast<std::uint32_t>(shape.high - shape.low);
  const Regions fresh = shadow.regions(low, low + span + bytes - 1) & shadow.written_since_barrier;
  if (fresh == 0 && shadow.found_written.has(shape, low, bytes, safe)) return;
  if (plainly_in_order(shadow, shape, offset, bytes, safe)) {
    shadow.found_written.add(shape, low, bytes, safe);
    return;
  }
  for_each_granule(block, warp, site, shape, offset, bytes,
                   [&](const SharedAccess& access, std::size_t granule, bool) {
                     if (shadow.written[granule] - 1 >= safe - 1) check_read(access, granule);
                   });
}

namespace {

/// Processes logged reads and updates the regions before a write.
void begin_write(Block& block, std::uint64_t low, std::uint64_t last) {
  const Regions regions = block.shadow.regions(low, last);
  settle_reads(block, regions);
  block.shadow.written_since_barrier |= regions;
}

}  // namespace

void write_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                  std::int64_t offset, std::uint32_t bytes) {
  SharedShadow& shadow = block.shadow;
  const std::uint32_t segment = block.order.segment(warp.index);
  const Stamp safe = block.order.safe_below(warp.index);
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(offset);
  const auto visit = [&](const Shape::Unique& unique) {
    const std::uint64_t begin = low + unique.distance;
    const std::uint64_t last = (begin + bytes - 1) >> shadow.granule_shift;
    // Writes of one instruction to one address are compared by value (engine/memory/access.cpp).
    const Stamp stamp = make_stamp(segment, block.thread(warp, unique.second));
    for (std::uint64_t granule = begin >> shadow.granule_shift; granule <= last; ++granule) {
      const Stamp before = shadow.written[granule];
      const int thread = block.thread(warp, unique.first);
      if (!is_plainly_writable(shadow, granule, safe, thread)) {
        check_write({block, thread, site, &warp, static_cast<std::uint32_t>(begin)}, granule,
                    "write", false);
      }
      if (before == 0) shadow.count_first_write(granule);
      shadow.written[granule] = stamp;
      shadow.write_site[granule] = site;
    }
  };
  if (shape.kind == Shape::Kind::uniform) {
    visit({0, 0, 1});
    return;
  }
  const auto& unique = shape.unique_distances();
  if (bytes <= widest_aligned) {
    SharedPlaces places(bytes >> shadow.granule_shift);
    const int first_thread = block.thread(warp, 0);
    const Stamp first_stamp = make_stamp(segment, first_thread);
    places.count = static_cast<std::size_t>(shape.uniques());
    for (std::size_t i = 0; i < places.count; ++i) {
      places.first[i] =
          static_cast<std::uint32_t>((low + unique[i].distance) >> shadow.granule_shift);
      places.thread[i] = static_cast<Stamp>(first_thread) + unique[i].first;
      places.stamp[i] = first_stamp + unique[i].second;
    }
    if (write_if_ordered(shadow, safe, places, site)) return;
  }
  std::for_each_n(unique.begin(), shape.uniques(), visit);
}

void atomic_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                   std::int64_t offset, std::uint32_t bytes) {
  const auto shift = static_cast<std::uint64_t>(offset);
  begin_write(block, shape.low + shift, shape.high + shift + bytes - 1);
  const std::uint32_t segment = block.order.segment(warp.index);
  const Stamp safe = block.order.safe_below(warp.index);
  for_each_granule(block, warp, site, shape, offset, bytes,
                   [&](const SharedAccess& access, std::size_t granule, bool again) {
                     SharedShadow& shadow = block.shadow;
                     if (!is_plain_atomic(shadow, granule, safe, access.thread)) {
                       if (shadow.written[granule] == 0) check_read(access, granule);
                       check_write(access, granule, "atomic", true);
                     }
                     if (again) return;
                     const Stamp stamp = make_stamp(segment, access.thread) | stamp_atomic;
                     shadow.write_atomically(granule, stamp, site);
                   });
}

namespace {

void write_at(Block& block, int thread, std::uint32_t site, std::uint32_t offset,
              std::uint32_t bytes, std::uint32_t time) {
  begin_write(block, offset, offset + bytes - 1);
  if (time == pending_time) block.shadow.found_written.forget();
  const auto granule_bytes = static_cast<std::uint32_t>(block.shadow.granule);
  for (std::uint32_t granule = offset / granule_bytes; granule < (offset + bytes) / granule_bytes;
       ++granule) {
    check_write({block, thread, site}, granule, "write", false);
    if (block.shadow.written[granule] == 0) block.shadow.count_first_write(granule);
    block.shadow.written[granule] = make_stamp(time, thread);
    block.shadow.write_site[granule] = site;
  }
}

}  // namespace

namespace {

/// Records the writes of a warp's cp.async. Returns false if some lanes' writes need a full check.
bool write_pending_if_ordered(Block& block, const Warp& warp, std::uint32_t site,
                              const AsyncCopy& copy) {
  SharedShadow& shadow = block.shadow;
  Regions regions = 0;
  for (int i = 0; i < copy.count; ++i) {
    const std::uint32_t offset = copy.offset[static_cast<std::size_t>(i)];
    regions |= shadow.regions(offset, offset + copy.bytes - 1);
  }
  settle_reads(block, regions);
  shadow.written_since_barrier |= regions;
  shadow.found_written.forget();
  SharedPlaces places(std::size_t{copy.bytes} >> shadow.granule_shift);
  const int first_thread = block.thread(warp, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(copy.count); ++i) {
    const int thread = first_thread + copy.lane[i];
    places.add(std::size_t{copy.offset[i]} >> shadow.granule_shift, thread,
               make_stamp(pending_time, thread));
  }
  return write_if_ordered(shadow, block.order.safe_below(warp.index), places, site);
}

}  // namespace

void write_shared_pending(Block& block, const Warp& warp, std::uint32_t site,
                          const AsyncCopy& copy) {
  const bool ordered = copy.distinct && write_pending_if_ordered(block, warp, site, copy);
  for (std::size_t i = 0; i < static_cast<std::size_t>(copy.count); ++i) {
    const std::uint32_t offset = copy.offset[i];
    if (!ordered) {
      write_at(block, block.thread(warp, copy.lane[i]), site, offset, copy.bytes, pending_time);
    }
    // The bulk copy's stamp is replaced.
    if (block.async != nullptr) block.async->shadow.write_at(offset) = 0;
  }
}

void write_shared_once(Block& block, int thread, std::uint32_t site, std::uint32_t offset,
                       std::uint32_t bytes) {
  write_at(block, thread, site, offset, bytes, block.order.segment(thread / warp_size));
}

void complete_pending(Block& block, const Warp& warp, const AsyncCopy& copy) {
  const Stamp first_stamp = make_stamp(block.order.segment(warp.index), block.thread(warp, 0));
  const int shift = block.shadow.granule_shift;
  for (std::size_t i = 0; i < static_cast<std::size_t>(copy.count); ++i) {
    std::fill_n(block.shadow.written.data() + (copy.offset[i] >> shift), copy.bytes >> shift,
                first_stamp + copy.lane[i]);
  }
}

}  // namespace rung::vgpu
