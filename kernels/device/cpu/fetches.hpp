#pragma once
// What tiles bring into the caches while they multiply.

#include <algorithm>
#include <cstdint>

#include "device/cpu/masked_kernels.hpp"

namespace rung::cpu {

template <class T>
inline constexpr std::int64_t line = 64 / sizeof(T);  // elements per cache line

/// The tile fetches a part of the strip of B that begins at `from`: half of its rows, and two lines
/// of each.
template <class T>
void fetch_part(MaskedTile<T>& tile, const T* from, std::int64_t row, std::int64_t part) {
  const std::int64_t half = (tile.k + 1) / 2 * (part % 2);
  // Where rows do not begin with a line, the strip to the left has read the first one.
  tile.fetch(from + half * row + part / 2 * 2 * line<T> + line<T> - 1, row, line<T>, tile.k);
}

/// Tile `index` of the first ones fetches its part of the next strip, which begins at `from`: two
/// lines of half of the rows, or a last one of all. Two lines are in one page.
template <class T>
void fetch_strip(MaskedTile<T>& tile, const T* from, std::int64_t row, std::int64_t index,
                 std::int64_t vectors) {
  if (index + 1 == vectors && vectors % 2 == 1) {
    // Where rows do not begin with a line, this strip has already read the first one of the next.
    tile.fetch(from + vectors * line<T> - 1, 2 * row, row, tile.k);
  } else {
    fetch_part(tile, from, row, index);
  }
}

/// C is needed only after the loop over k, which hides the latency of loading it.
template <class T>
void prefetch_c(const T* c, std::int64_t ldc, std::int64_t rows, std::int64_t last) {
  if (last < 2 * line<T>) {
    for (std::int64_t i = 0; i < rows; ++i, c += ldc) {
      __builtin_prefetch(c, 0, 2);
      __builtin_prefetch(c + last, 0, 2);
    }
    return;
  }
  const std::int64_t third = std::min(3 * line<T>, last);
  for (std::int64_t i = 0; i < rows; ++i, c += ldc) {
    for (const std::int64_t at : {std::int64_t{0}, line<T>, 2 * line<T>, third, last}) {
      __builtin_prefetch(c + at, 0, 2);
    }
  }
}

}  // namespace rung::cpu
