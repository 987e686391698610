#pragma once
// Integer helpers for CPU rungs.

#include <algorithm>
#include <cstdint>

#include "core/integers.hpp"

namespace rung::cpu {

using rung::ceil_div;
using rung::round_up;

/// Divides `whole` into the smallest number of equal parts of at most `limit`, and returns the size
/// of a part, rounded up to a multiple of `unit`.
inline std::int64_t even_part(std::int64_t whole, std::int64_t limit, std::int64_t unit) {
  const std::int64_t parts = std::max<std::int64_t>(1, ceil_div(whole, std::max(limit, unit)));
  return std::max(round_up(ceil_div(whole, parts), unit), unit);
}

/// The size of the parts for a unit of 1 and at most 2^32 - 1. 32-bit divisions take a third of the
/// time.
inline std::int64_t even_part(std::int64_t whole, std::int64_t limit) {
  if (whole <= limit) return whole;
  const auto size = static_cast<std::uint32_t>(whole);
  const auto most = static_cast<std::uint32_t>(limit);
  const std::uint32_t parts = (size + most - 1) / most;
  return (size + parts - 1) / parts;
}

}  // namespace rung::cpu
