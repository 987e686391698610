#include "vgpu/model/shape.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "vgpu/model/banks.hpp"
#include "vgpu/model/distinct_numbers.hpp"

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
  if (mask != all_lanes || !describe_regular(address)) describe_scattered(address);
  for (int lane = 0; lane < warp_size; ++lane) {
    distance[lane] = address[lane] - low;
    narrow_distance[lane] = static_cast<std::int32_t>(distance[lane]);
  }
  constexpr int half = warp_size / 2;
  halves_agree = mask == all_lanes &&
                 std::equal(distance.begin(), distance.begin() + half, distance.begin() + half);
  halves_uniform = mask == all_lanes;
  for (int lane = 0; lane < warp_size; ++lane) {
    halves_uniform = halves_uniform && distance[lane] == distance[lane / half * half];
  }
  narrow = high - low <= std::numeric_limits<std::int32_t>::max();
  half_stride = narrow_distance[1] - narrow_distance[0];
  for (int lane = 2; lane < half; ++lane) {
    if (narrow_distance[lane] - narrow_distance[lane - 1] != half_stride) half_stride = 0;
  }
  halves_linear = narrow && mask == all_lanes && half_stride != 0;
  for (int lane = half + 1; lane < warp_size; ++lane) {
    const std::int32_t gap = narrow_distance[lane] - narrow_distance[lane - 1];
    halves_linear = halves_linear && gap == half_stride;
  }
}

bool Shape::describe_regular(const std::uint64_t* address) {
  const std::uint64_t step = address[1] - address[0];
  for (int lane = 2; lane < warp_size; ++lane) {
    if (address[lane] - address[lane - 1] != step) return false;
  }
  stride = static_cast<std::int64_t>(step);
  kind = stride == 0 ? Kind::uniform : Kind::linear;
  low_bits = static_cast<std::uint8_t>(stride & 15);
  low = address[stride < 0 ? warp_size - 1 : 0];
  high = address[stride < 0 ? 0 : warp_size - 1];
  return true;
}

void Shape::describe_scattered(const std::uint64_t* address) {
  kind = Kind::scattered;
  stride = 0;
  // Addresses are compared as signed numbers: an offset leads negative ones back into the window.
  auto least = std::numeric_limits<std::int64_t>::max();
  auto most = std::numeric_limits<std::int64_t>::min();
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto at = static_cast<std::int64_t>(address[first_lane(left)]);
    least = std::min(least, at);
    most = std::max(most, at);
  }
  low = static_cast<std::uint64_t>(least);
  high = static_cast<std::uint64_t>(most);
  std::uint64_t bits = 0;
  for (Mask left = mask; left != 0; left &= left - 1) bits |= address[first_lane(left)] - low;
  low_bits = static_cast<std::uint8_t>(bits & 15);
}

const std::array<Shape::Unique, warp_size>& Shape::unique_distances() {
  if (uniques_ != 0) return unique_;
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

/// The wavefronts of an access to one aligned word per lane: lanes with the same word share it.
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

namespace {

/// Where the wavefronts of an aligned access are kept, whose addresses are `phase` bytes behind a
/// word: small ones have several phases.
std::size_t place_of_wavefronts(std::uint32_t bytes, std::uint32_t phase) {
  const auto size = static_cast<std::size_t>(std::countr_zero(bytes));
  return size < 2 ? 4 * size + phase : 6 + size % 8;
}

}  // namespace

int Shape::wavefronts(std::uint32_t bytes, std::int64_t offset, bool load) {
  // A shift of all lanes does not matter beyond the position within a bank of four bytes.
  const auto phase = static_cast<std::uint32_t>(low + static_cast<std::uint64_t>(offset)) & 3;
  std::uint8_t& known = wavefronts_[load ? 1 : 0][place_of_wavefronts(bytes, phase)];
  if (known != 0) return known;
  const bool words = bytes == 4 && phase == 0 && (low_bits & 3) == 0;
  const int regular = regular_wavefronts(bytes, load);
  const int counted = regular != 0 ? regular
                      : words      ? word_wavefronts()
                                   : shared_wavefronts(distance, mask, bytes, phase, load);
  known = static_cast<std::uint8_t>(counted);
  return known;
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

int Shape::sectors(std::uint32_t bytes, std::int64_t offset) {
  const std::uint64_t begin = low + static_cast<std::uint64_t>(offset);
  if (const int known = regular_sectors(bytes, begin)) return known;
  if (sectors_bytes_ != bytes) {
    sectors_bytes_ = bytes;
    sectors_.fill(0);
  }
  std::uint8_t& known = sectors_[begin % sector_bytes];
  if (known == 0) {
    known = static_cast<std::uint8_t>(
        global_sectors(distance, mask, bytes, static_cast<std::int64_t>(begin)));
  }
  return known;
}

}  // namespace rung::vgpu
