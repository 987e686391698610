#include "vgpu/observers/async_races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/observers/shared_races.hpp"

namespace rung::vgpu {
namespace {

/// Other warps need not distinguish the lanes of a warp in one segment.
constexpr Stamp lane_bits_of_stamp = warp_size - 1;

const Clock& clock_of(const Block& block, int thread) {
  return block.cluster.order.of(block.rank, thread / warp_size);
}

/// A thread that checks an access against the asynchronous operations in `block`.
struct Viewer {
  Block& block;  // whose shared memory it is
  Block& own;    // whose thread it is
  int thread;
  std::uint32_t site;
  const char* what;

  const Clock& clock() const { return clock_of(own, thread); }
  bool knows(const AsyncWrite& write) const { return clock()[write.component] >= write.number; }
  bool knows(const AsyncRead& read) const { return clock()[read.component] >= read.number; }
  bool knows(Stamp stamp) const {
    if (stamp == 0 || stamp_time(stamp) == pending_time) return true;
    if (&block == &own) return own.order.ordered(stamp, thread);
    const int warp = stamp_thread(stamp) / warp_size;
    return clock()[block.cluster.order.segments(block.rank, warp)] >= stamp_time(stamp);
  }
  bool sees(Stamp stamp) const {
    const int warp = stamp_thread(stamp) / warp_size;
    return clock()[block.cluster.order.fenced(block.rank, warp)] >= stamp_time(stamp);
  }
};

void race(const Viewer& viewer, std::uint32_t offset, int other_rank, int other_thread,
          std::uint32_t other_site, const std::string& other) {
  if (viewer.own.rank == other_rank) {
    report_race(viewer.own, viewer.thread, viewer.site, viewer.what, other_thread, other_site,
                other, offset, false);
    return;
  }
  const Site& site = viewer.own.worker.kernel.sites[other_site];
  report(viewer.own, HazardKind::shared_race, viewer.thread, viewer.site, viewer.what,
         shared_address(viewer.block, offset),
         fmt::format("not ordered with the {} by block {} of the cluster, {} (PTX line {})", other,
                     other_rank, site.mnemonic, site.ptx_line));
}

/// Returns false, after a report, if the unit's bulk write is not ordered before the access.
bool check_write(const Viewer& viewer, std::uint32_t offset) {
  AsyncShadow& shadow = viewer.block.async->shadow;
  const std::uint32_t id = shadow.write_at(offset);
  const AsyncWrite& write = shadow.writes[id];
  if (id == 0 || viewer.knows(write)) return true;
  race(viewer, offset, write.rank, write.thread, write.site, write.what);
  return false;
}

bool check_reads(const Viewer& viewer, std::uint32_t offset) {
  AsyncShadow& shadow = viewer.block.async->shadow;
  for (int slot = 0; slot < shadow.slots(); ++slot) {
    const std::uint32_t id = shadow.read_at(offset, slot);
    const AsyncRead& read = shadow.reads[id];
    if (id == 0 || viewer.knows(read)) continue;
    race(viewer, offset, read.rank, read.thread, read.site, read.what);
    return false;
  }
  return true;
}

Viewer viewer_of(const AsyncAccess& access) {
  Block& own = *access.warp.block;
  return {access.block, own, own.thread(access.warp, access.lane), access.site, access.what};
}

/// Checks an asynchronous read against an ordinary write.
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

/// Calls f(offset, first granule, last granule) for each unit of [offset, offset + bytes) until it
/// returns false.
template <class F>
void for_each_unit(const SharedShadow& shadow, std::uint32_t offset, std::uint32_t bytes,
                   const F& f) {
  for (const std::uint32_t end = offset + bytes; offset < end;) {
    const std::uint32_t next =
        std::min(end, offset / AsyncShadow::unit * AsyncShadow::unit + AsyncShadow::unit);
    if (!f(offset, offset >> shadow.granule_shift, (next - 1) >> shadow.granule_shift)) return;
    offset = next;
  }
}

}  // namespace

void check_async_read(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                      bool generic) {
  const Viewer viewer = viewer_of(access);
  const SharedShadow& shadow = viewer.block.shadow;
  AsyncShadow& async = viewer.block.async->shadow;
  Stamp fine = 0;               // a stamp that was found in order, for all its lanes
  std::uint32_t fine_copy = 0;  // a bulk write that was found in order
  const auto check = [&](std::uint32_t at, std::size_t granule) {
    const Stamp stamp = shadow.written[granule];
    if (stamp == 0) {
      report(viewer.own, HazardKind::uninitialised_read, viewer.thread, viewer.site, viewer.what,
             shared_address(viewer.block, granule << shadow.granule_shift),
             "no thread of the block has written it");
      return false;
    }
    if (stamp_time(stamp) == pending_time) {
      const std::uint32_t copy = async.write_at(at);
      if (copy == fine_copy && copy != 0) return true;
      fine_copy = copy;
      return check_write(viewer, at);
    }
    if ((stamp | lane_bits_of_stamp) == fine) return true;
    // Lanes of the viewer's own warp must be distinguished.
    const bool own = &viewer.block == &viewer.own &&
                     stamp_thread(stamp) / warp_size == viewer.thread / warp_size;
    if (!own) fine = stamp | lane_bits_of_stamp;
    return check_seen(viewer, granule, generic);
  };
  for_each_unit(shadow, offset, bytes, [&](std::uint32_t at, std::size_t first, std::size_t last) {
    Stamp before = 0;
    for (std::size_t granule = first; granule <= last; ++granule) {
      const Stamp stamp = shadow.written[granule];
      if (stamp == before && stamp_time(stamp) == pending_time) continue;  // the same copy
      if (!check(at, granule)) return false;
      before = stamp;
    }
    return true;
  });
}

void check_async_write(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes) {
  const Viewer viewer = viewer_of(access);
  SharedShadow& shadow = viewer.block.shadow;
  settle_reads(viewer.block, shadow.regions(offset, offset + bytes - 1));
  const auto check = [&](std::size_t granule, Stamp stamp, std::uint32_t site, const char* what) {
    if (viewer.knows(stamp)) return true;
    race(viewer, static_cast<std::uint32_t>(granule) << shadow.granule_shift, viewer.block.rank,
         stamp_thread(stamp), site, what);
    return false;
  };
  for_each_unit(shadow, offset, bytes, [&](std::uint32_t at, std::size_t first, std::size_t last) {
    if (stamp_time(shadow.written[first]) == pending_time && !check_write(viewer, at)) return false;
    if (!check_reads(viewer, at)) return false;
    for (std::size_t i = first; i <= last; ++i) {
      if (!check(i, shadow.written[i], shadow.write_site[i], "write") ||
          !check(i, shadow.first_reader[i], shadow.first_read_site[i], "read") ||
          !check(i, shadow.other_reader[i], shadow.other_read_site[i], "read")) {
        return false;
      }
    }
    return true;
  });
}

namespace {

/// The granules of [offset, offset + bytes).
struct Granules {
  std::size_t first, count;

  Granules(const SharedShadow& shadow, std::uint32_t offset, std::uint32_t bytes)
      : first(offset >> shadow.granule_shift),
        count(((offset + bytes - 1) >> shadow.granule_shift) + 1 - first) {}
};

/// Calls f(offset) for each unit of [offset, offset + bytes).
template <class F>
void for_each_unit(std::uint32_t offset, std::uint32_t bytes, const F& f) {
  for (std::uint32_t at = offset / AsyncShadow::unit * AsyncShadow::unit; at < offset + bytes;
       at += AsyncShadow::unit) {
    f(at);
  }
}

}  // namespace

void note_async_read(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes, int slot,
                     std::uint32_t read) {
  SharedShadow& shadow = access.block.shadow;
  AsyncShadow& async = access.block.async->shadow;
  if (bytes == 0) return;
  shadow.has_readers = true;
  for_each_unit(offset, bytes, [&](std::uint32_t at) { async.read_at(at, slot) = read; });
  const Granules granules(shadow, offset, bytes);
  Stamp* const readers = shadow.first_reader.data() + granules.first;
  Stamp* const others = shadow.other_reader.data() + granules.first;
  const std::uint32_t* const sites = shadow.first_read_site.data() + granules.first;
  std::uint32_t* const other_sites = shadow.other_read_site.data() + granules.first;
  for (std::size_t i = 0; i < granules.count; ++i) {
    const Stamp reader = readers[i];
    const bool pending = stamp_time(reader) == pending_time;
    const bool moves = !pending && reader != 0;
    others[i] = moves ? reader : others[i];
    other_sites[i] = moves ? sites[i] : other_sites[i];
    readers[i] = pending ? reader : make_stamp(pending_time, 0);
  }
}

void note_async_write(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                      std::uint32_t write) {
  AsyncShadow& async = access.block.async->shadow;
  SharedShadow& shadow = access.block.shadow;
  if (bytes == 0) return;
  shadow.written_since_barrier |= shadow.regions(offset, offset + bytes - 1);
  for_each_unit(offset, bytes, [&](std::uint32_t at) {
    async.write_at(at) = write;
    for (int slot = 0; slot < async.slots(); ++slot) async.read_at(at, slot) = 0;
  });
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
  const Viewer viewer{block, block, thread, site, what};
  const bool writes = what[0] != 'r';
  return check_write(viewer, offset) && (!writes || check_reads(viewer, offset));
}

}  // namespace rung::vgpu
