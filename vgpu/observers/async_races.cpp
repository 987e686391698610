#include "vgpu/observers/async_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/tensor_memory/tensor_memory.hpp"
#include "vgpu/observers/shared_races.hpp"

namespace rung::vgpu {
namespace {

/// Mask of the lane: other warps need not distinguish the lanes of a warp in one segment.
constexpr Stamp lane_bits_of_stamp = warp_size - 1;

const Clock& clock_of(const Block& block, int thread) {
  return block.cluster.order.of(block.rank, thread / warp_size);
}

/// A thread that checks an access against the asynchronous operations in `block`.
struct Viewer {
  Block& block;  // that owns the shared memory
  Block& own;    // of the thread
  int thread;
  std::uint32_t site;
  const char* what;
  bool atomic = false;

  const Clock& clock() const { return clock_of(own, thread); }
  bool knows(const AsyncWrite& write) const { return knows_operation(write); }
  bool knows(const AsyncRead& read) const { return knows_operation(read); }
  bool knows(Stamp stamp) const {
    if (stamp == 0 || stamp_time(stamp) == pending_time) return true;
    if (&block == &own) return own.order.ordered(stamp, thread);
    const int warp = stamp_thread(stamp) / warp_size;
    return clock()[block.cluster.order.segments(block.rank, warp)] >= stamp_time(stamp);
  }
  /// A remote access by a thread of the same block is ordered like its other accesses. The clock
  /// only includes segments that have ended.
  template <class Operation>
  bool knows_operation(const Operation& operation) const {
    if (clock()[operation.component] >= operation.number) return true;
    const int warp = operation.thread / warp_size;
    return operation.rank == own.rank &&
           operation.component == own.cluster.order.segments(own.rank, warp) &&
           own.order.ordered(make_stamp(operation.number, operation.thread), thread);
  }
  bool sees(Stamp stamp) const {
    const int warp = stamp_thread(stamp) / warp_size;
    return clock()[block.cluster.order.fenced(block.rank, warp)] >= stamp_time(stamp);
  }
};

/// `other_rank`: of the other thread's block in the cluster.
void race(const Viewer& viewer, std::uint32_t offset, int other_rank, int other_thread,
          std::uint32_t other_site, const std::string& other) {
  if (viewer.own.rank == other_rank && &viewer.block == &viewer.own) {
    report_race(viewer.own, viewer.thread, viewer.site, viewer.what, other_thread, other_site,
                other, offset, false);
    return;
  }
  report_cluster_race(viewer.own, viewer.thread, viewer.site, viewer.what,
                      viewer.own.cluster.block(other_rank), other_thread, other_site, other,
                      fmt::format("{} of block {} of the cluster",
                                  shared_address(viewer.block, offset), viewer.block.rank));
}

/// Returns false, after a report, if the unit's bulk write is not ordered before the access.
bool check_write(const Viewer& viewer, std::uint32_t offset) {
  AsyncShadow& shadow = viewer.block.async->shadow;
  const std::uint32_t id = shadow.write_at(offset);
  const AsyncWrite& write = shadow.writes[id];
  if (id == 0 || viewer.knows(write) || (viewer.atomic && write.atomic)) return true;
  race(viewer, offset, write.rank, write.thread, write.site, write.what);
  return false;
}

bool check_reads(const Viewer& viewer, std::uint32_t offset) {
  AsyncShadow& shadow = viewer.block.async->shadow;
  for (int slot = 0; slot < shadow.slots(); ++slot) {
    const std::uint32_t id = shadow.read_at(offset, slot);
    const AsyncRead& read = shadow.reads[id];
    if (id == 0 || viewer.knows(read)) continue;
    if (read.row_read == 0) {
      race(viewer, offset, read.rank, read.thread, read.site, read.what);
      return false;
    }
    HeldReports held(viewer.own);
    race(viewer, offset, read.rank, read.thread, read.site, read.what);
    tensor_memory(viewer.block).in_use.hold(viewer.block, read.row_read, offset, held.entries);
  }
  return true;
}

Viewer viewer_of(const AsyncAccess& access) {
  Block& own = *access.warp.block;
  return {access.block, own,         own.thread(access.warp, access.lane),
          access.site,  access.what, access.atomic};
}

/// Checks an asynchronous read against an ordinary write. Returns false after a report.
bool check_seen(const Viewer& viewer, std::size_t granule, bool generic) {
  const SharedShadow& shadow = viewer.block.shadow;
  const Stamp stamp = shadow.written[granule];
  const auto offset = static_cast<std::uint32_t>(granule) << shadow.granule_shift;
  if (!viewer.knows(stamp)) {
    race(viewer, offset, viewer.block.rank, stamp_thread(stamp), shadow.write_site[granule],
         "write");
    return false;
  }
  if (generic || viewer.sees(stamp)) return true;
  const Site& site = viewer.own.worker.kernel.sites[shadow.write_site[granule]];
  report(viewer.own, HazardKind::missing_fence, viewer.thread, viewer.site, viewer.what,
         shared_address(viewer.block, offset),
         fmt::format("there is no fence.proxy.async since the write at {} (PTX line {})",
                     site.where.empty() ? site.mnemonic : site.where, site.ptx_line));
  return false;
}

/// The granules of [offset, offset + bytes).
struct Granules {
  std::size_t first, count;

  Granules(const SharedShadow& shadow, std::uint32_t offset, std::uint32_t bytes)
      : first(offset >> shadow.granule_shift),
        count(((offset + bytes - 1) >> shadow.granule_shift) + 1 - first) {}
};

/// Calls f(offset, end) for each piece of [offset, end), split at multiples of `bytes` (a power of
/// two), until f returns false.
template <class F>
bool for_each_piece(std::uint32_t offset, std::uint32_t end, std::uint32_t bytes, const F& f) {
  while (offset < end) {
    const std::uint32_t next = std::min(end, (offset & ~(bytes - 1)) + bytes);
    if (!f(offset, next)) return false;
    offset = next;
  }
  return true;
}

}  // namespace

namespace {

/// Checks the units that one operation reads. Usually a few copies wrote most of them, and each
/// copy is checked once.
class ReadCheck {
 public:
  ReadCheck(const AsyncAccess& access, bool generic)
      : viewer_(viewer_of(access)), async_(access.block.async->shadow), generic_(generic) {}

  void check(const AsyncRange& range) {
    const std::uint32_t last = range.offset + range.bytes;
    if (range.bytes == 0 || is_of_known_copy(range.offset, last)) return;
    for_each_piece(range.offset, last, async_.unit(), [&](std::uint32_t at, std::uint32_t end) {
      return is_of_known_copy(at, end) || check_unit(at, end);
    });
  }

 private:
  bool is_of_known_copy(std::uint32_t at, std::uint32_t end) const {
    if (fine_copy_ == 0 || !async_.has_write(at, end, fine_copy_)) return false;
    constexpr Stamp of_copies = make_stamp(pending_time, 0);
    Stamp others = 0;
    const Granules granules(shadow_, at, end - at);
    const Stamp* const written = shadow_.written.data() + granules.first;
    for (std::size_t i = 0; i < granules.count; ++i) others |= written[i] ^ of_copies;
    return others == 0;
  }

  bool check_unit(std::uint32_t at, std::uint32_t end) {
    Stamp before = 0;
    const auto [first, count] = Granules(shadow_, at, end - at);
    for (std::size_t granule = first; granule < first + count; ++granule) {
      const Stamp stamp = shadow_.written[granule];
      if (stamp == before && stamp_time(stamp) == pending_time) continue;  // the same copy
      if (!check_granule(at, granule, stamp)) return false;
      before = stamp;
    }
    return true;
  }

  bool check_granule(std::uint32_t at, std::size_t granule, Stamp stamp) {
    if (stamp == 0) {
      report(viewer_.own, HazardKind::uninitialised_read, viewer_.thread, viewer_.site,
             viewer_.what, shared_address(viewer_.block, granule << shadow_.granule_shift),
             "no thread of the block has written it");
      return false;
    }
    if (stamp_time(stamp) == pending_time) {
      const bool fine = check_write(viewer_, at);
      fine_copy_ = fine ? async_.write_at(at) : 0;
      return fine;
    }
    if ((stamp | lane_bits_of_stamp) == fine_) return true;
    // Lanes of the viewer's own warp must be distinguished.
    const bool own = &viewer_.block == &viewer_.own &&
                     stamp_thread(stamp) / warp_size == viewer_.thread / warp_size;
    if (!own) fine_ = stamp | lane_bits_of_stamp;
    return check_seen(viewer_, granule, generic_);
  }

  const Viewer viewer_;
  const SharedShadow& shadow_ = viewer_.block.shadow;
  AsyncShadow& async_;
  const bool generic_;
  Stamp fine_ = 0;               // a stamp found to be in order, with all lane bits set
  std::uint32_t fine_copy_ = 0;  // a bulk write found to be in order
};

}  // namespace

void check_async_read(const AsyncAccess& access, std::span<const AsyncRange> ranges, bool generic) {
  ReadCheck check(access, generic);
  for (const AsyncRange& range : ranges) check.check(range);
}

namespace {

/// Checks the units that one bulk copy or remote store writes. Usually a few operations accessed
/// most of them, and each operation is checked once.
class WriteCheck {
 public:
  explicit WriteCheck(const AsyncAccess& access)
      : viewer_(viewer_of(access)),
        async_(access.block.async->shadow),
        fine_reads_(static_cast<std::size_t>(async_.slots())) {}

  bool check(std::uint32_t offset, std::uint32_t bytes) {
    no_threads_ = has_no_threads(Granules(shadow_, offset, bytes));
    return for_each_piece(
        offset, offset + bytes, AsyncShadow::copy_unit,
        [&](std::uint32_t at, std::uint32_t end) { return check_piece(at, end); });
  }

 private:
  /// Checks units with the same operations as one.
  bool check_piece(std::uint32_t at, std::uint32_t end) {
    const Granules granules(shadow_, at, end - at);
    if (async_.is_uniform(at, end) && have_one_writer(granules)) return check_unit(at, granules);
    return for_each_piece(at, end, async_.unit(), [&](std::uint32_t unit, std::uint32_t unit_end) {
      return check_unit(unit, Granules(shadow_, unit, unit_end - unit));
    });
  }

  bool check_unit(std::uint32_t at, const Granules& granules) {
    const bool copied = stamp_time(shadow_.written[granules.first]) == pending_time;
    if (copied && async_.write_at(at) != fine_write_) {
      if (!check_write(viewer_, at)) return false;
      fine_write_ = async_.write_at(at);
    }
    if (!has_known_reads(at)) {
      if (!check_reads(viewer_, at)) return false;
      for (int slot = 0; slot < async_.slots(); ++slot) fine_read(slot) = async_.read_at(at, slot);
    }
    return no_threads_ || has_no_threads(granules) || check_threads(granules);
  }

  std::uint32_t& fine_read(int slot) { return fine_reads_[static_cast<std::size_t>(slot)]; }

  bool has_known_reads(std::uint32_t at) {
    std::uint32_t differs = 0;
    for (int slot = 0; slot < async_.slots(); ++slot) {
      differs |= async_.read_at(at, slot) ^ fine_read(slot);
    }
    return differs == 0;
  }

  /// True if only asynchronous operations, or none, have accessed the granules.
  bool has_no_threads(const Granules& granules) const {
    // In stamps of operations, all time bits are set.
    constexpr Stamp time_bits = make_stamp(pending_time, 0);
    static_assert(~time_bits == (Stamp{1} << stamp_time_shift) - 1);
    Stamp threads = 0;
    for (const auto* stamps : {&shadow_.written, &shadow_.first_reader, &shadow_.other_reader}) {
      const Stamp* const of = stamps->data() + granules.first;
      for (std::size_t i = 0; i < granules.count; ++i) {
        const Stamp is_late = 0 - (of[i] >> 31);  // all bits or none
        threads |= (is_late & ~of[i] & time_bits) | (~is_late & of[i]);
      }
    }
    return threads == 0;
  }

  bool have_one_writer(const Granules& granules) const {
    const Stamp* const written = shadow_.written.data() + granules.first;
    Stamp differs = 0;
    for (std::size_t i = 1; i < granules.count; ++i) differs |= written[i] ^ written[0];
    return differs == 0;
  }

  bool check_threads(const Granules& granules) {
    for (std::size_t i = granules.first; i < granules.first + granules.count; ++i) {
      if (!check_thread(i, shadow_.written[i], shadow_.write_site[i], "write") ||
          !check_thread(i, shadow_.first_reader[i], shadow_.first_read_site[i], "read") ||
          !check_thread(i, shadow_.other_reader[i], shadow_.other_read_site[i], "read")) {
        return false;
      }
    }
    return true;
  }

  bool check_thread(std::size_t granule, Stamp stamp, std::uint32_t site, const char* what) const {
    if (viewer_.knows(stamp) || (viewer_.atomic && (stamp & stamp_atomic) != 0)) return true;
    race(viewer_, static_cast<std::uint32_t>(granule) << shadow_.granule_shift, viewer_.block.rank,
         stamp_thread(stamp), site, what);
    return false;
  }

  const Viewer viewer_;
  const SharedShadow& shadow_ = viewer_.block.shadow;
  AsyncShadow& async_;
  bool no_threads_ = false;       // for the whole range
  std::uint32_t fine_write_ = 0;  // a write found to be in order, and one read for each slot
  std::vector<std::uint32_t> fine_reads_;
};

}  // namespace

void check_async_write(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes) {
  if (bytes == 0) return;
  SharedShadow& shadow = access.block.shadow;
  settle_reads(access.block, shadow.regions(offset, offset + bytes - 1));
  WriteCheck(access).check(offset, bytes);
}

namespace {

/// Records a read by an asynchronous operation. If the first reader is a thread, it becomes the
/// other reader.
void note_read(SharedShadow& shadow, const Granules& granules) {
  constexpr Stamp of_operations = make_stamp(pending_time, 0);
  Stamp* const readers = shadow.first_reader.data() + granules.first;
  Stamp any = 0;
  for (std::size_t i = 0; i < granules.count; ++i) {
    any |= stamp_time(readers[i]) == pending_time ? Stamp{0} : readers[i];
  }
  for (std::size_t i = 0; any != 0 && i < granules.count; ++i) {
    if (readers[i] == 0 || stamp_time(readers[i]) == pending_time) continue;
    const std::size_t granule = granules.first + i;
    shadow.other_reader[granule] = readers[i];
    shadow.other_read_site[granule] = shadow.first_read_site[granule];
  }
  for (std::size_t i = 0; i < granules.count; ++i) {
    readers[i] = stamp_time(readers[i]) == pending_time ? readers[i] : of_operations;
  }
}

}  // namespace

void note_async_read(const AsyncAccess& access, std::span<const AsyncRange> ranges, int slot,
                     std::uint32_t read) {
  SharedShadow& shadow = access.block.shadow;
  AsyncShadow& async = access.block.async->shadow;
  for (const AsyncRange& range : ranges) {
    if (range.bytes == 0) continue;
    shadow.has_readers = true;
    async.set_read(range.offset, range.offset + range.bytes, slot, read);
    note_read(shadow, Granules(shadow, range.offset, range.bytes));
  }
}

void note_async_write(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                      std::uint32_t write) {
  AsyncShadow& async = access.block.async->shadow;
  SharedShadow& shadow = access.block.shadow;
  if (bytes == 0) return;
  shadow.written_since_barrier |= shadow.regions(offset, offset + bytes - 1);
  shadow.found_written.forget();
  async.set_write(offset, offset + bytes, write);
  const auto [first, count] = Granules(shadow, offset, bytes);
  Stamp* const written = shadow.written.data() + first;
  if (std::find(written, written + count, Stamp{0}) != written + count) {
    shadow.count_first_writes(first, count);
  }
  std::fill_n(written, count, make_stamp(pending_time, 0));
  std::fill_n(shadow.write_site.data() + first, count, access.site);
  std::fill_n(shadow.first_reader.data() + first, count, Stamp{0});
  std::fill_n(shadow.other_reader.data() + first, count, Stamp{0});
}

bool check_against_async(Block& block, int thread, std::uint32_t site, const char* what,
                         std::uint32_t offset) {
  const bool atomic = what[0] == 'a', writes = what[0] != 'r';
  const Viewer viewer{block, block, thread, site, what, atomic};
  return check_write(viewer, offset) && (!writes || check_reads(viewer, offset));
}

}  // namespace rung::vgpu
