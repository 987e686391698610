#pragma once
// Micro-kernels that read A and B in place, whatever their strides, and mask the columns that a
// partial tile does not have. One set per instruction set, for float and double.

#include <cstdint>

#include "device/cpu/machine.hpp"

namespace rung::cpu {

/// C (rows x cols) = alpha * A (rows x k) * B (k x cols) + beta * C, where rows of B and of C are
/// contiguous. The called function fixes the number of rows and the widest cols. With beta == 0, C
/// is not read.
template <class T>
struct MaskedTile {
  std::int64_t k;
  const T* a;
  std::int64_t a_row;  // elements from one row of A to the next, and from one step of k
  std::int64_t a_k;
  const T* b;
  std::int64_t b_k;
  T alpha;
  T beta;
  T* c;
  std::int64_t ldc;
  std::int64_t cols;
  // The first `moves` of the k steps also do what follows; the others only multiply.
  std::int64_t moves = 0;
  // Fetched into the L2 cache for later use, one line for each step: of each row, the line of its
  // first element and that of element next_last. Unrolled tiles fetch one for each `pace` steps: 1, 2, 4 or 8.
  const T* next = nullptr;
  std::int64_t next_row = 0;  // elements from one row to the next
  std::int64_t next_last = 0;
  std::int64_t pace = 1;
  // If not null: B is stored here as it is read, each step in whole vectors, for other tiles.
  // Needs moves == k.
  T* copy = nullptr;
  // B is a packed panel that comes from the L2 cache: it is fetched into L1 ahead of its use.
  bool streams_b = false;
  // Each step fetches into L1 the columns of B to the right, for the next tile. Needs moves == 0.
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

/// The same for `tiles` tiles, one below the other. They neither fetch nor copy, and k is at least 1.
template <class T>
using MaskedStripFunction = void (*)(const MaskedTile<T>& tile, std::int64_t tiles);

template <class T>
struct MaskedKernels {
  static constexpr int max_rows = 14;
  static constexpr int very_short_k = 6;

  std::int64_t MR;     // rows of the largest tile
  std::int64_t lanes;  // elements per vector
  /// Whether a partial tile touches only its columns of B. Without masked loads, B must be readable
  /// over whole vectors.
  bool masks_b;
  bool avoids_halves;        // half a vector takes as long as a whole one
  std::int64_t wide_rows;    // tiles of up to this many rows may be four vectors wide,
  std::int64_t triple_rows;  // or three
  /// Rows of a tile of one to four vectors in a strip of many. Fewer than the most: the first
  /// products of the next tile find free registers while these sums wait to be stored.
  std::int64_t rows_in_strip[4];

  // [rows - 1]: half a vector, one to four vectors. The last two are null above triple_rows and
  // wide_rows.
  MaskedTileFunction<T> tiles[max_rows][5];
  // Tiles of rows_in_strip rows, of one to four vectors. The first products of a tile need not wait
  // for the call of a function.
  MaskedStripFunction<T> strips[4];

  /// Copies `count` vectors of k elements each, which begin `stride` apart, side by side:
  /// panel[i * width + c] = from[c * stride + i] for c < count. width is a multiple of lanes and at
  /// least count; all of panel[0 … k * width) is overwritten.
  void (*transpose)(std::int64_t k, const T* from, std::int64_t stride, std::int64_t count,
                    std::int64_t width, T* panel);

  /// Whether the largest tile has few rows, because the vector registers are 16, not 32.
  bool has_few_rows() const { return MR <= l1_ways; }
  /// How many columns the next tile of `rows` rows covers when `left` columns remain. A vector and
  /// a half are two tiles where the second takes half the time; if k is very short, that is less
  /// than a call.
  std::int64_t tile_cols(std::int64_t rows, std::int64_t left, std::int64_t k) const {
    const bool ends_in_half = left > lanes && 2 * left <= 3 * lanes;
    if (ends_in_half && k > very_short_k && !avoids_halves) return lanes;
    const bool has_threes = rows <= triple_rows;
    // Five, six and nine vectors are three and the rest.
    const bool begins_with_three = has_threes && left > 4 * lanes &&
                                   (left <= 6 * lanes || (left > 8 * lanes && left <= 9 * lanes));
    const std::int64_t least_of_four = (has_threes ? 6 : 7) * lanes;
    const bool has_four = rows <= wide_rows && 2 * left > least_of_four && !begins_with_three;
    const std::int64_t most = (has_four ? 4 : has_threes ? 3 : 2) * lanes;
    return left < most ? left : most;
  }
  /// The vectors that a tile of `cols` columns has, at least one.
  std::int64_t vectors(std::int64_t cols) const {
    return 1 + (cols > lanes) + (cols > 2 * lanes) + (cols > 3 * lanes);
  }
  /// The most rows of a tile of `cols` columns.
  std::int64_t most_rows(std::int64_t cols) const {
    if (cols > 3 * lanes) return wide_rows;
    return cols > 2 * lanes ? triple_rows : MR;
  }
  /// How many rows a tile of `cols` columns has in a strip of many.
  std::int64_t strip_rows(std::int64_t cols) const { return rows_in_strip[vectors(cols) - 1]; }
  /// The function for tiles of strip_rows(cols) rows. cols is more than half a vector.
  MaskedStripFunction<T> tiles_of_strip(std::int64_t cols) const {
    return strips[vectors(cols) - 1];
  }
  /// The columns that a tile of `cols` columns computes: whole vectors, or half a vector.
  std::int64_t width(std::int64_t cols) const {
    return 2 * cols > lanes ? vectors(cols) * lanes : lanes / 2;
  }
  /// The function for a tile of `rows` (1 to MR) by `cols` (1 to tile_cols).
  MaskedTileFunction<T> tile(std::int64_t rows, std::int64_t cols) const {
    return tiles[rows - 1][2 * cols > lanes ? vectors(cols) : 0];
  }
};

/// The set for this machine. T is float or double.
template <class T>
const MaskedKernels<T>& masked_kernels();

}  // namespace rung::cpu
