#pragma once
// Micro-kernels that read A and B in place, with any strides, and mask the missing columns of
// partial tiles. One set per instruction set, for float and double.

#include <cstdint>

#include "device/cpu/machine.hpp"

namespace rung::cpu {

/// C (rows x cols) = alpha * A (rows x k) * B (k x cols) + beta * C, where rows of B and of C are
/// contiguous. The called function fixes the number of rows and the maximum of cols. With beta ==
/// 0, C is not read.
template <class T>
struct MaskedTile {
  std::int64_t k;
  const T* a;
  std::int64_t a_row;  // elements between rows of A
  std::int64_t a_k;
  const T* b;
  std::int64_t b_k;
  T alpha;
  T beta;
  T* c;
  std::int64_t ldc;
  std::int64_t cols;
  // The number of initial k-steps that also prefetch and copy; the remaining steps only multiply.
  std::int64_t moves = 0;
  // Prefetched into L2, one line per k-step: for each row, the lines of its first element and of
  // element next_last. Unrolled tiles prefetch one line per `pace` steps (1, 2, 4 or 8).
  const T* next = nullptr;
  std::int64_t next_row = 0;  // elements between rows
  std::int64_t next_last = 0;
  std::int64_t pace = 1;
  // If not null, B is stored here in whole vectors as it is read, for other tiles. Requires moves
  // == k.
  T* copy = nullptr;
  // B is a packed panel in L2 that is prefetched into L1.
  bool streams_b = false;
  // Each step prefetches the columns of B to the right into L1, for the next tile. Requires moves
  // == 0.
  bool fetches_right = false;

  void fetch(const T* from, std::int64_t row, std::int64_t last, std::int64_t steps) {
    next = from;
    next_row = row;
    next_last = last;
    moves = steps;
  }
};

template <class T>
using MaskedTileFunction = void (*)(const MaskedTile<T>& tile);

/// Computes `tiles` tiles, one below the other, without prefetches and copies. k must be at least
/// 1.
template <class T>
using MaskedStripFunction = void (*)(const MaskedTile<T>& tile, std::int64_t tiles);

template <class T>
struct MaskedKernels {
  static constexpr int max_rows = 14;
  static constexpr int very_short_k = 6;

  std::int64_t MR;     // rows of the largest tile
  std::int64_t lanes;  // elements per vector
  /// True if a partial tile reads only its own columns of B. Otherwise B must be readable over
  /// whole vectors.
  bool masks_b;
  bool avoids_halves;        // half a vector takes as long as a whole one
  std::int64_t wide_rows;    // maximum rows of tiles four vectors wide
  std::int64_t triple_rows;  // maximum rows of tiles three vectors wide
  /// Rows of the tiles in a strip, for widths of one to four vectors. Less than the maximum, so
  /// that the first products of the next tile find free registers while these sums wait to be
  /// stored.
  std::int64_t rows_in_strip[4];

  // [rows - 1][half a vector, one to four vectors]. Entries for three and four vectors are null
  // above triple_rows and wide_rows.
  MaskedTileFunction<T> tiles[max_rows][5];
  // Strips of tiles of rows_in_strip rows, one to four vectors wide. Saves a function call between
  // tiles.
  MaskedStripFunction<T> strips[4];

  /// Copies `count` columns of k elements, `stride` apart, into a row-major panel: panel[i * width
  /// + c] = from[c * stride + i] for c < count. width is a multiple of lanes and at least count;
  /// all of panel[0 … k * width) is overwritten.
  void (*transpose)(std::int64_t k, const T* from, std::int64_t stride, std::int64_t count,
                    std::int64_t width, T* panel);

  /// True if the largest tile has few rows, which is the case with 16 vector registers instead of
  /// 32.
  bool has_few_rows() const { return MR <= l1_ways; }
  /// The width of the next tile of `rows` rows when `left` columns remain. One and a half vectors
  /// become two tiles if half a vector takes half the time, unless k is so short that the function
  /// call costs more.
  std::int64_t tile_cols(std::int64_t rows, std::int64_t left, std::int64_t k) const {
    const bool ends_in_half = left > lanes && 2 * left <= 3 * lanes;
    if (ends_in_half && k > very_short_k && !avoids_halves) return lanes;
    const bool has_threes = rows <= triple_rows;
    // Divide five, six and nine vectors into three and the rest.
    const bool begins_with_three = has_threes && left > 4 * lanes &&
                                   (left <= 6 * lanes || (left > 8 * lanes && left <= 9 * lanes));
    const std::int64_t least_of_four = (has_threes ? 6 : 7) * lanes;
    const bool has_four = rows <= wide_rows && 2 * left > least_of_four && !begins_with_three;
    const std::int64_t most = (has_four ? 4 : has_threes ? 3 : 2) * lanes;
    return left < most ? left : most;
  }
  /// The width of a tile of `cols` columns in vectors, at least one.
  std::int64_t vectors(std::int64_t cols) const {
    return 1 + (cols > lanes) + (cols > 2 * lanes) + (cols > 3 * lanes);
  }
  /// The maximum rows of a tile of `cols` columns.
  std::int64_t max_tile_rows(std::int64_t cols) const {
    if (cols > 3 * lanes) return wide_rows;
    return cols > 2 * lanes ? triple_rows : MR;
  }
  /// The rows of each tile of `cols` columns in a strip.
  std::int64_t strip_rows(std::int64_t cols) const { return rows_in_strip[vectors(cols) - 1]; }
  /// The function for strips of tiles with strip_rows(cols) rows. cols must exceed half a vector.
  MaskedStripFunction<T> tiles_of_strip(std::int64_t cols) const {
    return strips[vectors(cols) - 1];
  }
  /// The number of columns that a tile of `cols` columns computes: whole vectors, or half a vector.
  std::int64_t width(std::int64_t cols) const {
    return 2 * cols > lanes ? vectors(cols) * lanes : lanes / 2;
  }
  /// The function for a tile of `rows` (1 to MR) by `cols` (1 to tile_cols()).
  MaskedTileFunction<T> tile(std::int64_t rows, std::int64_t cols) const {
    return tiles[rows - 1][2 * cols > lanes ? vectors(cols) : 0];
  }
};

/// The kernels for this machine. T is float or double.
template <class T>
const MaskedKernels<T>& masked_kernels();

}  // namespace rung::cpu
