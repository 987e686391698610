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
  const auto difference = hn::Xor(stamps, own);
  const auto same_block = hn::Eq(hn::ShiftRight<global_block_shift>(difference), hn::Zero(d));
  const auto same_thread =
      hn::Eq(hn::And(difference, hn::Set(d, stamp_thread_mask)), hn::Zero(d));
  const auto safe = hn::Lt(hn::And(stamps, hn::Set(d, low_half)), hn::Set(d, row.safe));
  const auto earlier = hn::Lt(stamps, hn::Set(d, row.oldest));
  return hn::AllTrue(d, hn::Or(earlier, hn::And(same_block, hn::Or(same_thread, safe))));
}

HWY_INLINE bool all_in_order(const GlobalRow& row, const GlobalStamp* stamps) {
  const std::size_t count = granules_of(row);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    if (!in_order(row, hn::LoadU(d, stamps + row.first + i), own_stamps(row, i))) return false;
  }
  return true;
}

HWY_INLINE void record(const GlobalRow& row, GlobalStamp* stamps, std::uint16_t* sites) {
  const std::size_t count = granules_of(row);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(own_stamps(row, i), d, stamps + row.first + i);
  }
  RUNG_LANES for (std::size_t i = 0; i < count; ++i) sites[row.first + i] = row.site;
}

bool write_row(const GlobalRow& row, bool was_read) {
  if (!all_in_order(row, row.shadow.written)) return false;
  if (was_read && !(all_in_order(row, row.shadow.first_reader) &&
                    all_in_order(row, row.shadow.other_reader))) {
    return false;
  }
  record(row, row.shadow.written, row.shadow.write_site);
  return true;
}

/// A second reader, other than the first, needs more.
bool read_row(const GlobalRow& row) {
  if (!all_in_order(row, row.shadow.written)) return false;
  const GlobalStamp* readers = row.shadow.first_reader + row.first;
  const auto one_bit = [&](Vector difference, std::uint64_t bits) HWY_ATTR {
    return hn::Eq(hn::And(difference, hn::Set(d, bits)), hn::Zero(d));
  };
  constexpr std::uint64_t block_and_thread = ~std::uint64_t{0xFFFFFFFFu} | stamp_thread_mask;
  bool recorded = true;
  for (std::size_t i = 0; i < granules_of(row); i += hn::Lanes(d)) {
    const auto before = hn::LoadU(d, readers + i);
    const auto difference = hn::Xor(before, own_stamps(row, i));
    const auto fits = hn::Or(hn::Lt(before, hn::Set(d, row.oldest)),
                             one_bit(difference, block_and_thread));
    if (!hn::AllTrue(d, fits)) return false;
    recorded = recorded && hn::AllTrue(d, hn::Eq(difference, hn::Zero(d)));
  }
  // A loop that reads one place again and again would only write what is there.
  const std::uint16_t* sites = row.shadow.first_read_site + row.first;
  for (std::size_t i = 0; recorded && i < granules_of(row); ++i) recorded = sites[i] == row.site;
  if (!recorded) record(row, row.shadow.first_reader, row.shadow.first_read_site);
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
