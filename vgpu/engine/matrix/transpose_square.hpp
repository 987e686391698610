#pragma once
// Transposes 8 x 8 16-bit elements in registers.

#include <cstdint>
#include <cstring>

namespace rung::vgpu {

inline constexpr int square_size = 8;
using Square = std::uint16_t[square_size][square_size];

/// to[j][i] = element j of the row at row(i), which may have any alignment.
template <class Row>
[[gnu::always_inline]] inline void transpose_square(const Row& row, Square& to) {
  // Vector extensions instead of Highway, whose baseline may be scalar code: every CPU has these
  // vectors.
  using Vector [[gnu::vector_size(16)]] = std::uint16_t;
  Vector rows[square_size], turned[square_size];
  for (int i = 0; i < square_size; ++i) std::memcpy(&rows[i], row(i), sizeof rows[i]);
  // Each round interleaves rows i and i + 4, which rotates the bits of an element's index by one.
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < square_size / 2; ++i) {
      const Vector upper = rows[i], lower = rows[i + square_size / 2];
      turned[2 * i] = __builtin_shufflevector(upper, lower, 0, 8, 1, 9, 2, 10, 3, 11);
      turned[2 * i + 1] = __builtin_shufflevector(upper, lower, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < square_size; ++i) rows[i] = turned[i];
  }
  std::memcpy(to, rows, sizeof to);
}

}  // namespace rung::vgpu
