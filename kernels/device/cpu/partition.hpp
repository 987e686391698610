#pragma once
// Divides a product into blocks of C, which threads take one by one.

#include <algorithm>
#include <cstdint>

#include "device/cpu/integers.hpp"

namespace rung::cpu {

/// The shortest split of k in gemm/cpu/split_k.
inline constexpr std::int64_t least_part_of_split_k = 1024;

/// Rows and columns of C in a block, in tiles: all blocks but those of the last row and column.
struct TileBlock {
  std::int64_t rows, cols;
};

/// The overhead of a block, in units of tiles: for each strip of columns, whose B the first tile
/// reads in place and copies for the others; and for each row of tiles, whose A is read from
/// outside the core. Both model traffic between cores and L3 as well as time.
inline constexpr double strip_overhead = 0.6;
inline constexpr double row_overhead = 0.2;
/// The overhead per row of tiles if each block packs its A.
inline constexpr double packed_row_overhead = 0.6;

/// The time of all blocks on `threads` threads, in units of tiles: that of the busiest thread.
inline double partition_time(std::int64_t row_count, std::int64_t col_count, TileBlock block,
                             int threads, double of_row = row_overhead) {
  const std::int64_t blocks = ceil_div(row_count, block.rows) * ceil_div(col_count, block.cols);
  const auto rows = static_cast<double>(block.rows);
  const double one = static_cast<double>(block.cols) * (rows + strip_overhead) + rows * of_row;
  return static_cast<double>(ceil_div(blocks, threads)) * one;
}

/// The next smaller part size for a division of `whole` into equal parts; 0 after 1.
inline std::int64_t next_part(std::int64_t whole, std::int64_t part) {
  return part == 1 ? 0 : ceil_div(whole, ceil_div(whole, part - 1));
}

/// The fastest block size with at most `max_rows` rows of tiles. Among nearly equal times it
/// prefers more blocks, because other work may delay a thread.
inline TileBlock balanced_block(std::int64_t row_count, std::int64_t col_count,
                                std::int64_t max_rows, int threads, double of_row = row_overhead) {
  constexpr std::int64_t max_per_thread = 16;
  constexpr double gain_per_round = 0.004;
  TileBlock best = {std::min(row_count, max_rows), col_count};
  double least = partition_time(row_count, col_count, best, threads, of_row);
  for (std::int64_t rows = row_count; rows > 0; rows = next_part(row_count, rows)) {
    if (rows > max_rows) continue;
    for (std::int64_t cols = col_count; cols > 0; cols = next_part(col_count, cols)) {
      const std::int64_t blocks = ceil_div(row_count, rows) * ceil_div(col_count, cols);
      const std::int64_t rounds = ceil_div(blocks, threads);
      if (rounds > max_per_thread) break;
      const double time =
          partition_time(row_count, col_count, {rows, cols}, threads, of_row) *
          (1 - gain_per_round * static_cast<double>(std::min<std::int64_t>(rounds, 8)));
      if (time >= least) continue;
      least = time;
      best = {rows, cols};
    }
  }
  return best;
}

}  // namespace rung::cpu
