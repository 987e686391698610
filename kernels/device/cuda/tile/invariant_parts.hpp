#pragma once
// The order of sums along k in mode batch_invariant, for elements of 16 bits: k is cut into parts, by k
// alone. Each part is summed from 0 on in ascending k, and the sums of the parts are added in their
// order. So blocks may share the parts of a tile, or one may have them all.

#include <cstdint>

#include "core/integers.hpp"

namespace rung::cuda {

/// A part takes as long as its matrix instructions wait for each other: few rows and columns need short
/// ones. Many rows need few, and a k of up to `most_steps_uncut` is one, whatever n is.
inline constexpr std::int64_t most_steps_of_part = 2048, most_steps_uncut = 4096;

constexpr int invariant_parts(std::int64_t k) {
  return k <= most_steps_uncut ? 1 : static_cast<int>(ceil_div(k, most_steps_of_part));
}

/// The first step of a part, whole k-blocks of 64 steps: the first parts may have one more than the others.
/// So does TileScheduler cut k.
constexpr std::int64_t begin_of_invariant_part(std::int64_t k, int part) {
  const auto blocks = static_cast<unsigned>(ceil_div(k, 64));
  const auto parts = static_cast<unsigned>(invariant_parts(k)),
             before = static_cast<unsigned>(part);
  const unsigned least = blocks / parts, longer = blocks - least * parts;
  return std::int64_t{least * before + (before < longer ? before : longer)} * 64;
}

/// Of the kernel for few rows: the most blocks of a cluster, which share the parts of a tile, and how many
/// parts those behind the first one may have.
inline constexpr int most_few_rows_ranks = 8, parts_of_follower = 2;

}  // namespace rung::cuda
