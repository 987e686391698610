#pragma once
// The order of sums along k in mode batch_invariant, for elements of 16 bits. k alone decides how k
// is cut into parts. Each part is summed from 0 on in ascending k, and the sums of the parts are
// added in ascending order. So several blocks may share the parts of a tile, or one block may sum
// them all.

#include <cstdint>

#include "core/integers.hpp"

namespace rung::cuda {

/// The matrix instructions of a part wait for each other, so a few rows and columns need short
/// parts. Many rows need few parts: a k of up to `most_steps_uncut` is not cut, whatever m and n
/// are.
inline constexpr std::int64_t most_steps_of_part = 2048, most_steps_uncut = 4096;

constexpr int invariant_parts(std::int64_t k) {
  return k <= most_steps_uncut ? 1 : static_cast<int>(ceil_div(k, most_steps_of_part));
}

/// The first step of a part. Parts have whole k-blocks of 64 steps, the first ones up to one more
/// than the others, as TileScheduler cuts k. The last part ends at a multiple of 64, at or beyond
/// k.
constexpr std::int64_t begin_of_invariant_part(std::int64_t k, int part) {
  const auto blocks = static_cast<unsigned>(ceil_div(k, 64));
  const auto parts = static_cast<unsigned>(invariant_parts(k)),
             before = static_cast<unsigned>(part);
  const unsigned least = blocks / parts, longer = blocks - least * parts;
  return std::int64_t{least * before + (before < longer ? before : longer)} * 64;
}

/// Limits of the kernel for few rows, whose clusters share the parts of a tile: the most blocks of
/// a cluster, and the most parts of each block but the first one.
inline constexpr int most_few_rows_ranks = 8, parts_of_follower = 2;

}  // namespace rung::cuda
