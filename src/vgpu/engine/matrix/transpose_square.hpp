#pragma once
// 8 x 8 elements of 16 bits, transposed in registers.

#include <cstdint>
#include <cstring>

namespace rung::vgpu {

inline constexpr int square_size = 8;
using Square = std::uint16_t[square_size][square_size];

/// to[j][i] = element j of the row that row(i) points to, at any alignment.
template <class Row>
[[gnu::always_inline]] inline void transpose_square(const Row& row, Square& to) {
  // Not of Highway, whose smallest set of instructions is scalar code: every CPU has these.
  using Vector [[gnu::vector_size(16)]] = std::uint16_t;
  Vector rows[square_size], turned[square_size];
  for (int i = 0; i < square_size; ++i) std::memcpy(&rows[i], row(i), sizeof rows[i]);
  // Each round interleaves rows i and i + 4, which turns the bits of an element's index by one.
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
