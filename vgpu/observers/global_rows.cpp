#include "vgpu/observers/global_rows.hpp"

#include <atomic>

#include "vgpu/model/warp.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/observers/global_rows.cpp"
#include "vgpu/engine/lanes/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr hn::CappedTag<std::uint64_t, warp_size> d{};
using Vector = hn::Vec<hn::CappedTag<std::uint64_t, warp_size>>;

using Sites = hn::CappedTag<std::uint16_t, warp_size>;

/// True where a found stamp is ordered before the access with stamp `own`: it belongs to an earlier
/// launch, or is 0; it is of this block and old enough; or it is of the same thread and not in
/// flight.
HWY_INLINE auto in_order(Vector found, Vector own, std::uint64_t oldest, Stamp safe) {
  constexpr std::uint64_t low_half = 0xFFFFFFFFu;
  const auto difference = hn::Xor(found, own);
  const auto same_block = hn::Eq(hn::ShiftRight<global_block_shift>(difference), hn::Zero(d));
  const auto same_thread = hn::Eq(hn::And(difference, hn::Set(d, stamp_thread_mask)), hn::Zero(d));
  const auto stamp = hn::And(found, hn::Set(d, low_half));
  const auto in_flight = hn::Set(d, std::uint64_t{make_stamp(pending_time, 0)});
  const auto own_and_done = hn::And(same_thread, hn::Lt(stamp, in_flight));
  const auto fine = hn::Or(own_and_done, hn::Lt(stamp, hn::Set(d, safe)));
  return hn::Or(hn::Lt(found, hn::Set(d, oldest)), hn::And(same_block, fine));
}

/// A row with a constant number of granules per lane, 2^lane_shift.
template <int lane_shift>
class Row {
 public:
  explicit HWY_INLINE Row(const GlobalRow& row) : row_(row) {}

  HWY_INLINE bool write(bool was_read, bool was_reread) const {
    GlobalStamp* const written = row_.shadow.written + row_.first;
    std::uint16_t* const sites = row_.shadow.write_site + row_.first;
    const bool recorded = is_recorded(written, sites);
    if (!recorded && !all_in_order(written)) return false;
    if (was_read && !all_in_order(row_.shadow.first_reader + row_.first)) return false;
    if (was_reread && !all_in_order(row_.shadow.other_reader + row_.first)) return false;
    if (!recorded) record(written, sites);
    return true;
  }

  /// Checks and records a read. Returns false if there is another reader.
  HWY_INLINE bool read(bool alone) const {
    if (!all_in_order(row_.shadow.written + row_.first)) return false;
    GlobalStamp* const readers = row_.shadow.first_reader + row_.first;
    std::uint16_t* const sites = row_.shadow.first_read_site + row_.first;
    if (is_recorded(readers, sites)) return true;
    if (!alone) return claim(readers, sites);
    constexpr std::uint64_t block_and_thread = ~std::uint64_t{0xFFFFFFFFu} | stamp_thread_mask;
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const auto before = hn::LoadU(d, readers + i);
      const auto difference = hn::And(hn::Xor(before, own(i)), hn::Set(d, block_and_thread));
      const auto fits =
          hn::Or(hn::Lt(before, hn::Set(d, row_.oldest)), hn::Eq(difference, hn::Zero(d)));
      if (!hn::AllTrue(d, fits)) return false;
    }
    record(readers, sites);
    return true;
  }

 private:
  static constexpr std::size_t count = std::size_t{warp_size} << lane_shift;

  /// The access's own stamps for granules starting at `i`.
  HWY_INLINE Vector own(std::size_t i) const {
    return hn::Add(hn::Set(d, row_.stamp), hn::ShiftRight<lane_shift>(hn::Iota(d, i)));
  }

  /// True if all these stamps are ordered before the row's accesses.
  HWY_INLINE bool all_in_order(const GlobalStamp* stamps) const {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const auto found = hn::LoadU(d, stamps + i);
      if (hn::AllTrue(d, hn::Lt(found, hn::Set(d, row_.oldest)))) continue;
      if (!hn::AllTrue(d, in_order(found, own(i), row_.oldest, row_.safe))) return false;
    }
    return true;
  }

  HWY_INLINE void record(GlobalStamp* stamps, std::uint16_t* sites) const {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(own(i), d, stamps + i);
    const Sites u16;
    const auto site = hn::Set(u16, row_.site);
    for (std::size_t i = 0; i < count; i += hn::Lanes(u16)) hn::StoreU(site, u16, sites + i);
  }

  /// record() for use while other CPU threads do the same.
  HWY_INLINE bool claim(GlobalStamp* readers, std::uint16_t* sites) const {
    for (std::size_t i = 0; i < count; ++i) {
      const GlobalStamp stamp = row_.stamp + (i >> lane_shift);
      if (!claim_first_reader(readers[i], stamp, row_.oldest)) return false;
      std::atomic_ref(sites[i]).store(row_.site, std::memory_order_relaxed);
    }
    return true;
  }

  /// True if record() would not change anything, as in a loop that accesses the same address
  /// repeatedly.
  HWY_INLINE bool is_recorded(const GlobalStamp* stamps, const std::uint16_t* sites) const {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      if (!hn::AllTrue(d, hn::Eq(hn::LoadU(d, stamps + i), own(i)))) return false;
    }
    const Sites u16;
    const auto site = hn::Set(u16, row_.site);
    for (std::size_t i = 0; i < count; i += hn::Lanes(u16)) {
      if (!hn::AllTrue(u16, hn::Eq(hn::LoadU(u16, sites + i), site))) return false;
    }
    return true;
  }

  const GlobalRow& row_;
};

template <class F>
HWY_INLINE bool with_row(const GlobalRow& row, const F& f) {
  switch (row.lane_shift) {
    case 0: return f(Row<0>(row));
    case 1: return f(Row<1>(row));
    case 2: return f(Row<2>(row));
    case 3: return f(Row<3>(row));
    default: return f(Row<4>(row));
  }
}

bool write_row(const GlobalRow& row, bool was_read, bool was_reread) {
  return with_row(row,
                  [&](const auto& known) HWY_ATTR { return known.write(was_read, was_reread); });
}
bool read_row(const GlobalRow& row, bool alone) {
  return with_row(row, [&](const auto& known) HWY_ATTR { return known.read(alone); });
}

/// True if all of the lanes' granules have a stamp in order. `atomic_access`: have a stamp
/// of an atomic, or of an earlier launch.
bool all_in_order(const GlobalLanes& lanes, const GlobalStamp* stamps, bool atomic_access) {
  const GlobalPlaces& places = lanes.places;
  const hn::RebindToSigned<decltype(d)> indices;
  const auto atomic = hn::Set(d, atomic_access ? stamp_atomic : 0);
  for (std::size_t i = 0; i < places.count; i += hn::Lanes(d)) {
    // Positions after the last lane repeat the first lane.
    const auto used = hn::FirstN(d, places.count - i);
    const auto first =
        hn::IfThenElse(hn::RebindMask(indices, used), hn::LoadU(indices, places.first.data() + i),
                       hn::Set(indices, places.first[0]));
    const auto own = hn::IfThenElse(used, hn::LoadU(d, places.checked.data() + i),
                                    hn::Set(d, places.checked[0]));
    for (std::size_t granule = 0; granule < lanes.granules; ++granule) {
      const auto found = hn::GatherIndex(d, stamps + granule, first);
      const auto is_atomic = hn::Ne(hn::And(found, atomic), hn::Zero(d));
      const auto in_time = atomic_access ? hn::Lt(found, hn::Set(d, lanes.oldest))
                                         : in_order(found, own, lanes.oldest, lanes.safe);
      if (!hn::AllTrue(d, hn::Or(is_atomic, in_time))) return false;
    }
  }
  return true;
}

bool write_lanes(const GlobalLanes& lanes, bool was_read, bool was_reread) {
  const GlobalShadow& shadow = lanes.shadow;
  if (!all_in_order(lanes, shadow.written, lanes.atomic)) return false;
  if (was_read && !lanes.atomic && !all_in_order(lanes, shadow.first_reader, false)) return false;
  if (was_reread && !lanes.atomic && !all_in_order(lanes, shadow.other_reader, false)) return false;
  for (std::size_t i = 0; i < lanes.places.count; ++i) {
    const auto first = static_cast<std::size_t>(lanes.places.first[i]);
    for (std::size_t granule = first; granule < first + lanes.granules; ++granule) {
      std::atomic_ref(shadow.written[granule])
          .store(lanes.places.recorded[i], std::memory_order_relaxed);
      std::atomic_ref(shadow.write_site[granule]).store(lanes.site, std::memory_order_relaxed);
    }
  }
  return true;
}

bool check_lane_reads(const GlobalLanes& lanes) {
  return all_in_order(lanes, lanes.shadow.written, lanes.atomic);
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

bool write_global_row(const GlobalRow& row, bool was_read, bool was_reread) {
  static const auto picked = RUNG_PICK_LANES(write_row);
  return picked(row, was_read, was_reread);
}

bool read_global_row(const GlobalRow& row, bool alone) {
  static const auto picked = RUNG_PICK_LANES(read_row);
  return picked(row, alone);
}

bool write_global_lanes(const GlobalLanes& lanes, bool was_read, bool was_reread) {
  static const auto picked = RUNG_PICK_LANES(write_lanes);
  return picked(lanes, was_read, was_reread);
}

bool check_global_reads(const GlobalLanes& lanes) {
  static const auto picked = RUNG_PICK_LANES(check_lane_reads);
  return picked(lanes);
}

}  // namespace rung::vgpu
#endif  // HWY_ONCE
