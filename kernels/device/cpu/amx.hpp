#pragma once
// Products of tiles, the two-dimensional registers of AMX: eight of 16 rows by 64 bytes.
//
// With RUNG_TILE_MODEL everything here is computed by a model of the instructions in plain C++
// (tile_model.hpp), so that tests of packing and loops run on any CPU.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/dot_kernels.hpp"
#include "rung/types.hpp"

namespace rung::cpu {

#ifdef RUNG_TILE_MODEL
inline namespace tile_model {
#endif

inline constexpr std::int64_t tile_rows = 16;    // of every tile, and columns of sums
inline constexpr std::int64_t tile_groups = 16;  // of a row: 64 bytes
inline constexpr std::int64_t tile_size = tile_rows * tile_groups;
/// Rows of A and columns of B and C of one product: two tiles, one below or beside the other.
inline constexpr std::int64_t tile_block = 2 * tile_rows;
/// Groups of a pair of tiles, which are contiguous in packed operands.
inline constexpr std::int64_t pair_size = 2 * tile_size;
/// Elements of k in a tile.
template <class In>
inline constexpr std::int64_t tile_depth = 64 / sizeof(In);

/// How the panel of B is filled: it already is; or, one step ahead of the products, from a matrix
/// with contiguous rows or with contiguous columns.
enum class Panel { ready, from_rows, from_columns };

/// C (rows x cols) = alpha * A * B + beta * C for up to 32 x 32 elements of C, whose rows are
/// contiguous. With beta == 0, C is not read. Several products with parts of k, which `is_first` and
/// `is_last` mark, add to the same sums before C gets them.
template <class In, class Acc>
struct TileProduct {
  std::int64_t k;  // of A and B, in elements
  std::int64_t rows, cols;

  // Tiles of A: in place, or packed by TileKernels::pack_a. Strides in bytes.
  const void* a;
  std::int64_t a_row;   // from one row of a tile to the next
  std::int64_t a_tile;  // from one tile of k to the next
  std::int64_t a_below;
  const KGroup* a_last;  // if not null, the packed last tiles of k: k ends inside of them
  // Rows of A that a later product reads, fetched into L2 meanwhile: a line of each for each tile of
  // k. Their distance in bytes.
  const void* a_next;
  std::int64_t a_next_rows, a_next_stride;

  // For each tile of k two tiles side by side, each of 16 groups of k by 16 columns.
  KGroup* panel;
  const In* b;  // from which it is filled
  std::int64_t b_stride;
  std::int64_t b_next;  // elements from b to what is fetched into L2 meanwhile; 0: nothing

  // Four tiles of sums: in C, if it has them all, or elsewhere. Strides in elements.
  Acc* sums;
  std::int64_t sums_row, sums_right, sums_below;
  bool is_first;  // the sums start from 0

  bool is_last;  // C gets the sums, if these are elsewhere
  Acc alpha, beta;
  Acc* c;
  std::int64_t ldc;

  void keep_sums_in_c() {
    sums = c;
    sums_row = ldc;
    sums_right = tile_rows;
    sums_below = tile_rows * ldc;
  }
  void keep_sums_in(Acc* tiles) {
    sums = tiles;
    sums_row = tile_rows;
    sums_right = tile_size;
    sums_below = 2 * tile_size;
  }
};

template <class In, class Acc>
struct TileKernels {
  /// Prepares the calling thread's tiles for products of up to that many rows; end() gives them
  /// back, after which other code of the thread saves less state. Of products of fewer rows than
  /// given, tiles of A are read as if they had them: these have to be packed.
  void (*begin)(std::int64_t rows);
  void (*end)();
  using Multiply = void (*)(const TileProduct<In, Acc>& product);
  Multiply products[3][2][2];  // [Panel][more than 16 rows][more than 16 columns]

  /// Packs rows x k elements, up to 32 rows, as pairs of tiles, one below the other, for each tile
  /// of k. What is beyond rows and k is 0.
  void (*pack_a)(const Matrix<const In>& a, std::int64_t rows, std::int64_t k, KGroup* tiles);

  Multiply product(Panel panel, std::int64_t rows, std::int64_t cols) const {
    return products[static_cast<int>(panel)][rows > tile_rows][cols > tile_rows];
  }
};

/// Null if this CPU has no tiles, or if the system refuses them to this process, which is asked at
/// the first call. bfloat16 to float and int8 to int32.
template <class In, class Acc>
const TileKernels<In, Acc>* tile_kernels() {
  return nullptr;
}
template <>
const TileKernels<bfloat16, float>* tile_kernels<bfloat16, float>();
template <>
const TileKernels<std::int8_t, std::uint32_t>* tile_kernels<std::int8_t, std::uint32_t>();

#ifdef RUNG_TILE_MODEL
}  // namespace tile_model
#endif

}  // namespace rung::cpu
