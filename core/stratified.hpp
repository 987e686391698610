#pragma once
// Stratified random positions: selects the elements of a large result to check.

#include <cstdint>
#include <vector>

#include "core/random.hpp"

namespace rung {

/// Positions in [0, extent): one in each of `count` equal cells, including the first and the last
/// position.
inline std::vector<std::int64_t> stratified(std::int64_t extent, std::int64_t count,
                                            std::uint64_t seed) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = extent * i / count;
    const std::int64_t end = extent * (i + 1) / count;
    positions.push_back(begin + random_below(end - begin, seed, static_cast<std::uint64_t>(i)));
  }
  positions.front() = 0;
  positions.back() = extent - 1;
  return positions;
}

}  // namespace rung
