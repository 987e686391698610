#include "vgpu/model/shape.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "vgpu/model/banks.hpp"
#include "vgpu/model/distinct_numbers.hpp"
#include "vgpu/model/shape_lanes.hpp"

namespace rung::vgpu {

void Shape::describe(Mask lanes, const std::uint64_t* address) {
  mask = lanes;
  moved_by = 0;
  ++generation;
  log = nullptr;
  uniques_ = 0;
  wavefronts_ = {};
  matrix_wavefronts_.fill(0);
  sectors_bytes_ = 0;
  if (mask != 0) {
    fill_in(*this, address);
    return;
  }
  kind = Kind::scattered;  // no lane has an address
  narrow = halves_agree = halves_uniform = halves_linear = false;
  stride = 0;
  low = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  high = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min());
}

const std::array<Shape::Unique, warp_size>& Shape::unique_distances() {
  if (uniques_ != 0) return unique_;
  if (narrow) {
    const DistinctLanes distinct = distinct_lanes(*this);
    for (Mask left = distinct.first; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(first_lane(left));
      unique_[static_cast<std::size_t>(uniques_++)] = {
          distance[lane], static_cast<std::uint8_t>(lane), distinct.second[lane]};
    }
    return unique_;
  }
  DistinctNumbers<warp_size> known;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint8_t>(first_lane(left));
    const int index = known.index_of(distance[lane]);
    Unique& unique = unique_[static_cast<std::size_t>(index)];
    if (index == uniques_) {
      unique = {distance[lane], lane, lane};
      ++uniques_;
    } else if (unique.second == unique.first) {
      unique.second = lane;
    }
  }
  return unique_;
}

/// Wavefronts of an access to one aligned word per lane. Lanes with the same word share it.
int Shape::word_wavefronts() {
  constexpr std::uint64_t bank_bytes = 4;
  std::array<std::uint8_t, warp_size> words{};  // by bank
  int most = 0;
  const auto& unique = unique_distances();
  for (int i = 0; i < uniques_; ++i) {
    const std::uint64_t bank =
        unique[static_cast<std::size_t>(i)].distance / bank_bytes % words.size();
    most = std::max(most, int{++words[bank]});
  }
  return most;
}

int Shape::regular_wavefronts(std::uint32_t bytes, bool load) const {
  if (kind == Kind::uniform) {
    const int groups = bytes > 8 ? 4 : bytes > 4 ? 2 : 1;
    return load && groups > 1 ? groups / 2 : groups;
  }
  if (kind != Kind::linear) return 0;
  const std::int64_t gap = stride < 0 ? -stride : stride;
  if (gap == bytes && bytes > 4) return static_cast<int>(bytes / 4);
  // Only every gcd-th bank is used, gcd times each.
  if (bytes <= 4 && gap % 4 == 0) return static_cast<int>(std::gcd(gap / 4, warp_size));
  return 0;
}

std::uint8_t Shape::count_wavefronts(std::uint32_t bytes, std::uint32_t phase, bool load) {
  const bool words = bytes == 4 && phase == 0 && (low_bits & 3) == 0;
  const int regular = regular_wavefronts(bytes, load);
  return static_cast<std::uint8_t>(regular != 0 ? regular
                                   : words      ? word_wavefronts()
                                           : shared_wavefronts(distance, mask, bytes, phase, load));
}

int Shape::matrix_wavefronts(int matrices) {
  constexpr int rows = 8;
  constexpr std::uint32_t row_bytes = 16;
  std::uint8_t& known = matrix_wavefronts_[static_cast<std::size_t>(matrices)];
  if (known != 0) return known;
  int sum = 0;
  for (int matrix = 0; matrix < matrices; ++matrix) {
    const Mask lanes = 0xFFu << (matrix * rows);
    sum += shared_wavefronts(distance, lanes & mask, row_bytes, 0, true);
  }
  known = static_cast<std::uint8_t>(sum);
  return known;
}

int Shape::regular_sectors(std::uint32_t bytes, std::uint64_t begin) const {
  const std::int64_t gap = stride < 0 ? -stride : stride;
  if (kind == Kind::uniform ||
      (kind == Kind::linear && gap <= static_cast<std::int64_t>(sector_bytes))) {
    const std::uint64_t last = begin + (high - low) + bytes - 1;
    return static_cast<int>(last / sector_bytes - begin / sector_bytes + 1);
  }
  return kind == Kind::linear && bytes <= sector_bytes ? warp_size : 0;
}

int Shape::count_sectors(std::uint32_t bytes, std::uint64_t begin) {
  if (sectors_bytes_ != bytes) {
    sectors_bytes_ = bytes;
    sectors_.fill(0);
  }
  std::uint8_t& known = sectors_[begin % sector_bytes];
  const int regular = regular_sectors(bytes, begin);
  const bool aligned =
      std::has_single_bit(bytes) && bytes <= 16 && ((begin | low_bits) & (bytes - 1)) == 0;
  if (regular != 0) {
    known = static_cast<std::uint8_t>(regular);
  } else if (narrow && aligned) {  // at most one sector per lane
    const auto phase = static_cast<std::uint32_t>(begin % sector_bytes);
    constexpr int shift = std::countr_zero(sector_bytes);
    known = static_cast<std::uint8_t>(count_distinct(*this, phase, shift));
  } else {
    known = static_cast<std::uint8_t>(
        global_sectors(distance, mask, bytes, static_cast<std::int64_t>(begin)));
  }
  return known;
}

}  // namespace rung::vgpu
