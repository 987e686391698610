#pragma once
// What the costs of more than one rung of gemm/cpu share (library/cost_model.hpp). In cycles.

#include <cstdint>
#include <limits>

namespace rung::cost {

inline constexpr double tile_rows = 14;
inline constexpr double infinite = std::numeric_limits<double>::infinity();

// Of the kernels around their loops over k, and of a call.
inline constexpr double masked_tile = 25, masked_call = 50;

// Per element, or per byte.
inline constexpr double transposing = 0.5;
inline constexpr double strided_read = 0.35;   // of an operand beyond L3, strip by strip
inline constexpr double blocked_read = 0.25;   // a few rows at a time
inline constexpr double streamed_read = 0.19;  // in the order in which it is stored
inline constexpr double reread = 0.12;         // A by 11 for each strip of B, B by 13, not in L2
inline constexpr double vector_from_l2 = 10;   // of B, in a tile of two vectors, by 07 and 11
// Per byte of a B that passes by few rows of A, from L2 and from beyond.
inline constexpr double passing_near = 0.02, passing_far = 0.1;
inline constexpr double passing_few_rows = 0.045;  // the latter, in tiles of few rows
// Per byte of a C beyond L2: by 06 and 12 (tiles of a block along its rows), and by 11 where k is short;
// and with one FMA in a cycle.
inline constexpr double written_in_blocks = 0.075, written = 0.1;

/// std::ceil is a call where only the oldest instruction set may be used.
inline double ceil_of(double value) {
  constexpr double most = 1e15;
  if (value > most) return value;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(value));
  return whole < value ? whole + 1 : whole;
}

}  // namespace rung::cost
