#pragma once
// Prefetches that tiles issue while they multiply.

#include <algorithm>
#include <cstdint>

#include "device/cpu/masked_kernels.hpp"

namespace rung::cpu {

template <class T>
inline constexpr std::int64_t line = 64 / sizeof(T);  // elements per cache line

/// Lets tile `index` prefetch its share of the next strip, which starts at `from` and has `lines`
/// cache lines per row: two lines of some rows (both in one page), or the odd last line. With one
/// line per `pace` k-steps, this takes lines * pace tiles.
template <class T>
void fetch_strip(MaskedTile<T>& tile, const T* from, std::int64_t row, std::int64_t index,
                 std::int64_t lines, std::int64_t pace) {
  // If rows are not aligned to cache lines, this strip has already read the first line of the next
  // one.
  from += line<T> - 1;
  const std::int64_t fetched = (tile.k + pace - 1) / pace, pair = index / (2 * pace);
  if (lines % 2 == 1 && pair == lines / 2) {
    const std::int64_t first = (index - 2 * pace * pair) * fetched;
    tile.fetch(from + (lines - 1) * line<T> + first * row, 2 * row, row, tile.k);
  } else {
    const std::int64_t first = index % (2 * pace) * ((fetched + 1) / 2);
    tile.fetch(from + 2 * pair * line<T> + first * row, row, line<T>, tile.k);
  }
  tile.pace = pace;
}

/// The largest number of k-steps per prefetched line (1, 2, 4 or 8) with which `tiles` tiles
/// prefetch everything.
inline std::int64_t pace_of(std::int64_t tiles) {
  return tiles >= 8 ? 8 : tiles >= 4 ? 4 : tiles >= 2 ? 2 : 1;
}

/// Prefetches into L1, for tiles that are written soon.
template <class T>
void prefetch_rows(const T* at, std::int64_t stride, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) __builtin_prefetch(at + i * stride);
}

/// Prefetches C, which is needed only after the loop over k.
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
