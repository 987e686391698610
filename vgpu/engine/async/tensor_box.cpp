#include "vgpu/engine/async/tensor_box.hpp"

#include <algorithm>
#include <cstring>

namespace rung::vgpu {
namespace {

std::uint32_t row_bytes(const TensorMap& map) { return shared_bytes_of(map.element, map.box[0]); }

/// Number of elements copied in a dimension of the box: box size divided by element stride, rounded
/// up.
std::uint32_t taken(const TensorMap& map, std::size_t dimension) {
  if (map.mode != TensorMode::tiled) return map.box[dimension];
  const std::uint32_t step = map.steps[dimension];
  return (map.box[dimension] + step - 1) / step;
}

/// Advances `index` through the outer dimensions of the box. Returns false after the last position.
bool next(const TensorMap& map, std::array<std::uint32_t, TensorMap::max_dimensions>& index) {
  for (std::size_t i = 1; i < map.dimensions; ++i) {
    if (++index[i] < taken(map, i)) return true;
    index[i] = 0;
  }
  return false;
}

/// The part of elements [first, first + count) that is inside [0, size).
struct Inside {
  std::int64_t begin, end;
};
Inside inside(std::int64_t first, std::int64_t count, std::int64_t size) {
  const std::int64_t begin = std::clamp<std::int64_t>(first, 0, size);
  return {begin, std::clamp<std::int64_t>(first + count, begin, size)};
}

}  // namespace

std::uint32_t box_pitch(const TensorMap& map) {
  return std::max(row_bytes(map), span_of(map.swizzle));
}

std::vector<BoxRow> box_rows(const TensorMap& map, const TensorPlace& at) {
  std::vector<BoxRow> rows;
  std::array<std::uint32_t, TensorMap::max_dimensions> index{};
  const auto bytes = [&](std::int64_t count) {
    return bytes_of(map.element, static_cast<std::uint32_t>(count));
  };
  std::uint32_t offset = 0;
  do {
    std::uint64_t address = map.address;
    bool exists = true;
    for (std::size_t i = 1; i < map.dimensions; ++i) {
      const std::int64_t place = std::int64_t{at[i]} + std::int64_t{index[i]} * map.steps[i];
      exists = exists && place >= 0 && place <= std::int64_t{map.sizes[i]};
      address += static_cast<std::uint64_t>(place) * map.strides[i - 1];
    }
    const std::int64_t size = std::int64_t{map.sizes[0]} + 1;
    const std::uint32_t count = map.steps[0] == 1 ? map.box[0] : 1;
    for (std::uint32_t first = 0; first < map.box[0]; first += count * map.steps[0]) {
      const std::int64_t begin = std::int64_t{at[0]} + first;
      const Inside part = exists ? inside(begin, count, size) : Inside{begin, begin};
      BoxRow& row = rows.emplace_back();
      row.inside = bytes(part.end - part.begin);
      row.skipped = row.inside == 0 ? 0 : bytes(part.begin - begin);
      row.address = address + static_cast<std::uint64_t>(part.begin) * bits_of(map.element) / 8;
      row.bytes = bytes(count);
      row.offset = offset + shared_bytes_of(map.element, first / map.steps[0]);
    }
    offset += box_pitch(map);
  } while (next(map, index));
  return rows;
}

std::uint32_t box_extent(const TensorMap& map) {
  std::uint32_t bytes = box_pitch(map);
  for (std::size_t i = 1; i < map.dimensions; ++i) bytes *= taken(map, i);
  return bytes;
}

bool has_gaps(const TensorMap& map) { return row_bytes(map) < span_of(map.swizzle); }

void convert_elements(TensorElement element, std::byte* data, std::uint32_t bytes) {
  const bool rounds = element == TensorElement::tf32 || element == TensorElement::tf32_flushed;
  const bool flushes =
      element == TensorElement::f32_flushed || element == TensorElement::tf32_flushed;
  if (!rounds && !flushes) return;
  constexpr std::uint32_t exponent = 0x7F800000u;
  for (std::uint32_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t bits;
    std::memcpy(&bits, data + at, sizeof bits);
    if (flushes && (bits & exponent) == 0) bits &= 0x80000000u;
    if (rounds && (bits & exponent) != exponent) {
      bits = (bits + 0x0FFFu + (bits >> 13 & 1u)) & 0xFFFFE000u;
    }
    std::memcpy(data + at, &bits, sizeof bits);
  }
}

}  // namespace rung::vgpu
