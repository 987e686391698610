#include "vgpu/observers/row_stamps.hpp"

#include <algorithm>
#include <bit>

namespace rung::vgpu {
namespace {

constexpr std::uint64_t half_warp = warp_size / 2;
constexpr std::uint16_t all_words = 0xFFFF;
constexpr std::uint64_t least_lane_bytes = RowStamp::bytes / half_warp, max_lane_bytes = 16;

/// The part of an access that is in one row.
struct Part {
  GlobalStamp stamp;    // of the first of its lanes
  std::uint16_t words;  // bit mask of the words accessed
  std::uint8_t lane_shift;
};

/// True if each lane's thread has left the stamp itself.
bool is_own(const RowStamp& found, const Part& part) {
  const GlobalStamp difference = found.first ^ part.stamp;
  return found.lane_shift == part.lane_shift && block_number_of(difference) == 0 &&
         (difference & stamp_thread_mask) == 0;
}

/// True if a read may be recorded as the first one: no other thread has read the row.
bool is_free(const RowStamp& found, const GlobalRow& row, const Part& part) {
  return found.first < row.oldest || is_own(found, part);
}

/// True if comparisons show that all lanes of the stamp are ordered before the access.
bool is_in_order(const RowStamp& found, const GlobalRow& row, const Part& part) {
  return is_free(found, row, part) ||
         (found.lane_shift != RowStamp::apart && block_number_of(found.first ^ part.stamp) == 0 &&
          within_block(found.first) < row.safe);
}

/// True if the access can replace the recorded one.
bool replaces(const RowStamp& found, const GlobalRow& row, const Part& part) {
  const bool same =
      found.first == part.stamp && found.site == row.site && found.lane_shift == part.lane_shift;
  return found.first < row.oldest || same || (found.words & ~part.words) == 0;
}

void record(RowStamp& to, const GlobalRow& row, const Part& part) {
  const bool same = to.first == part.stamp;  // of the same lanes in the same segment
  const std::uint16_t before = same ? to.words : std::uint16_t{0};
  to = {part.stamp, row.site, static_cast<std::uint16_t>(before | part.words), part.lane_shift};
}

/// The record of the launch's rows in the allocation.
RecordedRows& recorded(const RowLaunch& launch) {
  RecordedRows& rows = *launch.shadow.rows;
  if (rows.launch != launch.number) {
    const bool apart = rows.stays_apart;
    rows = {};
    rows.launch = launch.number;
    rows.all_apart = rows.stays_apart = apart;
  }
  return rows;
}

/// Bit mask of the words that the lanes access.
std::uint16_t words_of(std::uint32_t lanes, std::uint64_t lane_bytes) {
  if (lane_bytes == least_lane_bytes) return static_cast<std::uint16_t>(lanes);
  const auto words = static_cast<int>(lane_bytes / least_lane_bytes);
  std::uint32_t all = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    all |= ((1u << words) - 1) << (first_lane(left) * words);
  }
  return static_cast<std::uint16_t>(all);
}

/// True if both halves start at a row boundary and do not overlap.
bool begins_rows(const HalfWarps& halves) {
  const auto& [lower, upper] = halves.begin;
  const std::uint64_t distance = lower < upper ? upper - lower : lower - upper;
  const bool both = halves.lanes[0] != 0 && halves.lanes[1] != 0;
  return halves.lane_bytes >= least_lane_bytes && halves.lane_bytes <= max_lane_bytes &&
         (lower | upper) % RowStamp::bytes == 0 &&
         (!both || distance >= half_warp * halves.lane_bytes);
}

/// Calls f(index, part) for each row of the access.
template <class F>
void for_each_part(const GlobalRow& row, const HalfWarps& halves, const F& f) {
  const auto lane_shift = static_cast<std::uint8_t>(std::countr_zero(halves.lane_bytes));
  const auto lanes = static_cast<int>(RowStamp::bytes >> lane_shift);
  for (std::size_t half = 0; half < halves.begin.size(); ++half) {
    std::uint32_t left = halves.lanes[half];
    for (std::size_t i = 0; left != 0; ++i, left >>= lanes) {
      const std::uint32_t active = left & ((1u << lanes) - 1);
      if (active == 0) continue;
      const std::uint64_t first = half * half_warp + i * static_cast<std::uint64_t>(lanes);
      const std::uint64_t begin = halves.begin[half] + i * RowStamp::bytes;
      f(begin / RowStamp::bytes,
        Part{row.stamp + first, words_of(active, halves.lane_bytes), lane_shift});
    }
  }
}

bool is_apart(const RowLaunch& launch, const RowStamp& row) {
  return row.first >= launch.oldest && row.lane_shift == RowStamp::apart;
}

/// Converts the row's stamp, if it belongs to this launch, to stamps of its granules.
void spread(const RowLaunch& launch, std::size_t index, RowStamp& row, GlobalStamp* stamps,
            std::uint16_t* sites) {
  if (is_apart(launch, row)) return;
  const std::size_t count = RowStamp::bytes / launch.granule_bytes;
  for (std::size_t i = 0; row.first >= launch.oldest && i < count; ++i) {
    if ((row.words >> (i * launch.granule_bytes / least_lane_bytes) & 1) == 0) continue;
    stamps[index * count + i] = row.first + (i * launch.granule_bytes >> row.lane_shift);
    sites[index * count + i] = row.site;
  }
  row = {launch.oldest, 0, 0, RowStamp::apart};
}

void spread(const RowLaunch& launch, std::size_t index) {
  const GlobalShadow& shadow = launch.shadow;
  spread(launch, index, shadow.written_rows[index], shadow.written, shadow.write_site);
  spread(launch, index, shadow.read_rows[index], shadow.first_reader, shadow.first_read_site);
}

/// True if rows are so rare that they are not worthwhile.
bool are_rare(const RecordedRows& rows) {
  constexpr std::uint32_t few = 64, share = 8;
  return rows.apart > few + rows.count / share;
}

}  // namespace

bool visit_own_rows(const RowLaunch& launch, const GlobalRow& row, const HalfWarps& halves,
                    bool writes) {
  if (!begins_rows(halves)) return false;
  RecordedRows& rows = recorded(launch);
  const auto lane_shift = static_cast<std::uint8_t>(std::countr_zero(halves.lane_bytes));
  const std::uint64_t lanes = RowStamp::bytes >> lane_shift;  // per row
  const std::size_t count = half_warp / lanes;                // rows per half
  RowStamp* const written = launch.shadow.written_rows;
  RowStamp* const read = launch.shadow.read_rows;
  const auto is_own = [&](const RowStamp& found, GlobalStamp stamp) {
    return is_free(found, row, {stamp, all_words, lane_shift});
  };
  bool own = true;
  for (std::size_t half = 0; half < halves.begin.size(); ++half) {
    const std::size_t first = halves.begin[half] / RowStamp::bytes;
    for (std::size_t i = 0; i < count; ++i) {
      const GlobalStamp stamp = row.stamp + half * half_warp + i * lanes;
      own = own && is_own(written[first + i], stamp) && is_own(read[first + i], stamp);
    }
  }
  if (!own) return false;
  RowStamp* const to = writes ? written : read;
  for (std::size_t half = 0; half < halves.begin.size(); ++half) {
    const std::size_t first = halves.begin[half] / RowStamp::bytes;
    for (std::size_t i = 0; i < count; ++i) {
      rows.count += to[first + i].first < row.oldest ? 1 : 0;
      to[first + i] = {row.stamp + half * half_warp + i * lanes, row.site, all_words, lane_shift};
    }
    rows.begin = rows.end == 0 ? first : std::min(rows.begin, first);
    rows.end = std::max(rows.end, first + count);
  }
  return true;
}

bool has_rows(const RowLaunch& launch) { return !recorded(launch).all_apart; }

bool visit_rows(const RowLaunch& launch, const GlobalRow& row, const HalfWarps& halves,
                bool writes) {
  RecordedRows& rows = recorded(launch);
  if (!begins_rows(halves)) return false;
  RowStamp* const written = launch.shadow.written_rows;
  RowStamp* const read = launch.shadow.read_rows;
  RowStamp* const to = writes ? written : read;
  bool fits = true;
  for_each_part(row, halves, [&](std::size_t i, const Part& part) {
    fits = fits && is_in_order(written[i], row, part) &&
           (writes ? is_in_order(read[i], row, part) : is_free(read[i], row, part)) &&
           replaces(to[i], row, part);
  });
  if (!fits) return false;
  for_each_part(row, halves, [&](std::size_t i, const Part& part) {
    rows.count += to[i].first < row.oldest ? 1 : 0;
    record(to[i], row, part);
    rows.begin = rows.end == 0 ? i : std::min(rows.begin, i);
    rows.end = std::max(rows.end, i + 1);
  });
  return true;
}

void spread_rows(const RowLaunch& launch, std::uint64_t begin, std::uint64_t end) {
  RecordedRows& rows = recorded(launch);
  if (rows.all_apart) return;  // another lane has ended the use of rows
  const GlobalShadow& shadow = launch.shadow;
  const auto all = static_cast<std::size_t>(shadow.read_rows - shadow.written_rows);
  const std::size_t last = std::min((end - 1) / RowStamp::bytes + 1, all);
  for (std::size_t i = begin / RowStamp::bytes; i < last; ++i) {
    if (is_apart(launch, shadow.written_rows[i])) continue;
    spread(launch, i);
    ++rows.apart;
  }
  if (!are_rare(rows)) return;
  for (std::size_t i = rows.begin; i < rows.end; ++i) spread(launch, i);
  rows.all_apart = rows.stays_apart = true;
}

}  // namespace rung::vgpu
