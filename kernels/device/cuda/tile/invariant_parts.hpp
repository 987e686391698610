#pragma once
// The summation order along k in mode batch_invariant, for 16-bit elements. The division of k into
// parts depends only on k. Each part is summed from 0 in ascending k, and the sums of parts are
// added in ascending order. Several blocks may therefore share the parts of a tile, or one block
// may sum all of them.

#include <cstdint>

#include "core/integers.hpp"

namespace rung::cuda {

/// Matrix instructions of a part are serialized, so products with few rows and columns need short
/// parts. Products with many rows need few parts: a k of up to `max_steps_uncut` is not divided,
/// for any m and n.
inline constexpr std::int64_t max_steps_of_part = 2048, max_steps_uncut = 4096;

constexpr int invariant_parts(std::int64_t k) {
  return k <= max_steps_uncut ? 1 : static_cast<int>(ceil_div(k, max_steps_of_part));
}

/// The first step of a part. Parts consist of whole k-blocks of 64 steps; the first ones may have
/// one more than the others, as in TileScheduler. The last part ends at a multiple of 64 that is at
/// least k.
constexpr std::int64_t begin_of_invariant_part(std::int64_t k, int part) {
  const auto blocks = static_cast<unsigned>(ceil_div(k, 64));
  const auto parts = static_cast<unsigned>(invariant_parts(k)),
             before = static_cast<unsigned>(part);
  const unsigned least = blocks / parts, longer = blocks - least * parts;
  return std::int64_t{least * before + (before < longer ? before : longer)} * 64;
}

/// Limits of the kernel for few rows, whose clusters share the parts of a tile: the maximum cluster
/// size, and the maximum number of parts for each block after the first.
inline constexpr int max_few_rows_ranks = 8, parts_of_follower = 2;

}  // namespace rung::cuda
