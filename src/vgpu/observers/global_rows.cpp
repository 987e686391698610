#include "vgpu/observers/global_rows.hpp"

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

std::size_t granules_of(const GlobalRow& row) { return std::size_t{warp_size} << row.lane_shift; }

/// The stamps of the granules from `i` on.
HWY_INLINE Vector own_stamps(const GlobalRow& row, std::size_t i) {
  const auto lane = hn::ShiftRightSame(hn::Iota(d, i), row.lane_shift);
  return hn::Add(hn::Set(d, row.stamp), lane);
}

/// Whether all of these stamps are ordered before the accesses with stamps `own`: of an earlier
/// launch, or none; of this block and old enough; or of the same thread.
HWY_INLINE bool in_order(const GlobalRow& row, Vector stamps, Vector own) {
  constexpr std::uint64_t low_half = 0xFFFFFFFFu;
  const auto earlier = hn::Lt(stamps, hn::Set(d, row.oldest));
  if (hn::AllTrue(d, earlier)) return true;
  const auto difference = hn::Xor(stamps, own);
  const auto same_block = hn::Eq(hn::ShiftRight<global_block_shift>(difference), hn::Zero(d));
  const auto same_thread =
      hn::Eq(hn::And(difference, hn::Set(d, stamp_thread_mask)), hn::Zero(d));
  const auto safe = hn::Lt(hn::And(stamps, hn::Set(d, low_half)), hn::Set(d, row.safe));
  return hn::AllTrue(d, hn::Or(earlier, hn::And(same_block, hn::Or(same_thread, safe))));
}

HWY_INLINE bool all_in_order(const GlobalRow& row, const GlobalStamp* stamps) {
  const std::size_t count = granules_of(row);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    if (!in_order(row, hn::LoadU(d, stamps + i), own_stamps(row, i))) return false;
  }
  return true;
}

HWY_INLINE void record(const GlobalRow& row, GlobalStamp* stamps, std::uint16_t* sites) {
  const std::size_t count = granules_of(row);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(own_stamps(row, i), d, stamps + i);
  }
  const Sites u16;
  const auto site = hn::Set(u16, row.site);
  for (std::size_t i = 0; i < count; i += hn::Lanes(u16)) hn::StoreU(site, u16, sites + i);
}

/// Whether record() would change nothing: a loop that accesses one place again and again.
HWY_INLINE bool is_recorded(const GlobalRow& row, const GlobalStamp* stamps,
                            const std::uint16_t* sites) {
  const std::size_t count = granules_of(row);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    if (!hn::AllTrue(d, hn::Eq(hn::LoadU(d, stamps + i), own_stamps(row, i)))) return false;
  }
  const Sites u16;
  const auto site = hn::Set(u16, row.site);
  for (std::size_t i = 0; i < count; i += hn::Lanes(u16)) {
    if (!hn::AllTrue(u16, hn::Eq(hn::LoadU(u16, sites + i), site))) return false;
  }
  return true;
}

bool write_row(const GlobalRow& row, bool was_read) {
  GlobalStamp* const written = row.shadow.written + row.first;
  std::uint16_t* const sites = row.shadow.write_site + row.first;
  const bool recorded = is_recorded(row, written, sites);
  if (!recorded && !all_in_order(row, written)) return false;
  if (was_read && !(all_in_order(row, row.shadow.first_reader + row.first) &&
                    all_in_order(row, row.shadow.other_reader + row.first))) {
    return false;
  }
  if (!recorded) record(row, written, sites);
  return true;
}

/// A second reader, other than the first, needs more.
bool read_row(const GlobalRow& row) {
  if (!all_in_order(row, row.shadow.written + row.first)) return false;
  GlobalStamp* const readers = row.shadow.first_reader + row.first;
  std::uint16_t* const sites = row.shadow.first_read_site + row.first;
  if (is_recorded(row, readers, sites)) return true;
  constexpr std::uint64_t block_and_thread = ~std::uint64_t{0xFFFFFFFFu} | stamp_thread_mask;
  for (std::size_t i = 0; i < granules_of(row); i += hn::Lanes(d)) {
    const auto before = hn::LoadU(d, readers + i);
    const auto difference =
        hn::And(hn::Xor(before, own_stamps(row, i)), hn::Set(d, block_and_thread));
    const auto fits =
        hn::Or(hn::Lt(before, hn::Set(d, row.oldest)), hn::Eq(difference, hn::Zero(d)));
    if (!hn::AllTrue(d, fits)) return false;
  }
  record(row, readers, sites);
  return true;
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

bool write_global_row(const GlobalRow& row, bool was_read) {
  static const auto picked = RUNG_PICK_LANES(write_row);
  return picked(row, was_read);
}

bool read_global_row(const GlobalRow& row) {
  static const auto picked = RUNG_PICK_LANES(read_row);
  return picked(row);
}

}  // namespace rung::vgpu
#endif  // HWY_ONCE
