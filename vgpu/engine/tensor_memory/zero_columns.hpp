#pragma once
// The zero-column mask of tcgen05.mma.ws (PTX ISA, 9.7.16.4.3, "Zero-Column Mask Descriptor").

#include <array>
#include <cstdint>

namespace rung::vgpu {

/// Columns of B that count as zeros, and the column of B that is the first.
struct ZeroColumns {
  std::array<bool, 256> is_zero{};
  int shift = 0;
};

/// Decodes the descriptor for a product with m rows and n columns. The mask has a part for each group of lanes that
/// holds columns of D: one for m = 128, two for 64, four for 32. Spans of columns that are zero and that are used
/// alternate.
constexpr ZeroColumns zero_columns(std::uint64_t bits, int m, int n) {
  const auto byte = [&](int first) { return static_cast<int>(bits >> first & 0xFF); };
  ZeroColumns result;
  result.shift = static_cast<int>(bits >> 56 & 0x3F);
  if ((bits >> 39 & 1) == 0) return result;
  const int zero_span = byte(40) + 1, used_span = byte(48) + 1;
  const int parts = 128 / m, width = n / parts;
  for (int part = 0; part < parts; ++part) {
    bool is_zero = (bits >> (32 + part) & 1) != 0;
    int left = is_zero ? zero_span : used_span;
    const int skipped = byte(8 * part);
    for (int i = -skipped; i < width; ++i) {
      if (i >= 0) result.is_zero[static_cast<std::size_t>(part * width + i)] = is_zero;
      if (--left != 0) continue;
      is_zero = !is_zero;
      left = is_zero ? zero_span : used_span;
    }
  }
  return result;
}

}  // namespace rung::vgpu
