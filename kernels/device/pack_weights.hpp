#pragma once
// Packs quantized weights, one 32-bit word at a time, on CPUs and GPUs.

#include <cstdint>

#include "device/weight_layout.hpp"

namespace rung {

/// Rows of elements in the format of rung::QuantizedWeights, with scales of 4 or 2 bytes.
struct QuantizedRows {
  const unsigned char* elements;
  const unsigned char* scales;
  const unsigned char* zeros;  // null: symmetric quantization
};

/// True if a scale counts as 0, because sums cannot use it as their unit
/// (device/cuda/tile/group_sums.cuh): below 2^-124 or, in float16, which has no such numbers, 0.
constexpr bool is_no_scale(const QuantizedRows& from, const WeightLayout& layout,
                           std::int64_t group) {
  const unsigned char* const end = from.scales + (group + 1) * layout.scale_bytes();
  const unsigned sign_and_exponent = end[-2] | end[-1] << 8;  // and the first bits of the fraction
  return (sign_and_exponent & 0x7fff) < (layout.scale == WeightScale::f16 ? 1 : 3 << 7);
}

/// An element as stored in records: unsigned with 4 bits, two's complement with 8 bits. If its
/// scale counts as 0, it equals the zero point.
constexpr std::uint32_t element_to_pack(const QuantizedRows& from, const WeightLayout& layout,
                                        std::int64_t row, std::int64_t step) {
  const std::int64_t group = row * (layout.k / layout.group) + step / layout.group;
  const bool is_nothing = is_no_scale(from, layout, group);
  if (layout.bits == 8) return is_nothing ? 0 : from.elements[row * layout.k + step];
  if (is_nothing) return from.zeros == nullptr ? 8 : from.zeros[group] & 15;
  const unsigned pair = from.elements[(row * layout.k + step) / 2];
  const unsigned element = step % 2 == 0 ? pair & 15 : pair >> 4;
  return from.zeros == nullptr ? element ^ 8 : element;
}

/// A word of elements of the record of 16 rows and 128 k-steps at (row, step).
constexpr std::uint32_t packed_elements(const QuantizedRows& from, const WeightLayout& layout,
                                        std::int64_t row, std::int64_t step, int word) {
  std::uint32_t packed = 0;
  for (int index = 0; index < 32 / layout.bits; ++index) {
    const WeightPlace place = place_of_weight(layout.bits, word, index);
    if (row + place.row >= layout.n || step + place.step >= layout.k) continue;
    packed |= element_to_pack(from, layout, row + place.row, step + place.step)
              << (index * layout.bits);
  }
  return packed;
}

/// Byte `at` of a record's part for `values`, which have `bytes` bytes for each row and group.
constexpr std::uint32_t packed_byte(const unsigned char* values, int bytes,
                                    const WeightLayout& layout, std::int64_t row, std::int64_t step,
                                    int at) {
  const int value = at / bytes;
  const std::int64_t of_row = row + value % WeightLayout::rows;
  const std::int64_t group = step / layout.group + value / WeightLayout::rows;
  if (of_row >= layout.n || group >= layout.k / layout.group) return 0;
  return values[(of_row * (layout.k / layout.group) + group) * bytes + at % bytes];
}

/// Word `word` of the same record: elements, scales or zero points.
constexpr std::uint32_t packed_word(const QuantizedRows& from, const WeightLayout& layout,
                                    std::int64_t row, std::int64_t step, int word) {
  if (word * 4 < layout.scales_at()) return packed_elements(from, layout, row, step, word);
  const bool is_zero = word * 4 >= layout.zeros_at();
  std::uint32_t packed = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const int at = word * 4 + byte;
    const std::uint32_t value =
        is_zero ? packed_byte(from.zeros, 1, layout, row, step, at - layout.zeros_at()) & 15
                : packed_byte(from.scales, layout.scale_bytes(), layout, row, step,
                              at - layout.scales_at());
    packed |= value << (byte * 8);
  }
  return packed;
}

}  // namespace rung
