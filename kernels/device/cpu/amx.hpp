#pragma once
// Tile products on AMX, whose registers are eight tiles of 16 rows by 64 bytes.
//
// With RUNG_TILE_MODEL everything here runs on a model of the instructions in plain C++
// (tile_model.hpp), so that packing and loops can be tested on any CPU.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/dot_kernels.hpp"
#include "rung/types.hpp"

namespace rung::cpu {

#ifdef RUNG_TILE_MODEL
inline namespace tile_model {
#endif

inline constexpr std::int64_t tile_rows = 16;    // rows of each tile, and columns of sums
inline constexpr std::int64_t tile_groups = 16;  // groups per row (64 bytes)
inline constexpr std::int64_t tile_size = tile_rows * tile_groups;
/// Rows of A and columns of B and C in one product: two adjacent tiles in each direction.
inline constexpr std::int64_t tile_block = 2 * tile_rows;
/// Groups in a pair of tiles; pairs are contiguous in packed operands.
inline constexpr std::int64_t pair_size = 2 * tile_size;
/// k-elements in a tile.
template <class In>
inline constexpr std::int64_t tile_depth = 64 / sizeof(In);

/// The state of B's panel: already filled, or to be filled one step ahead of the products from a
/// matrix with contiguous rows or contiguous columns.
enum class Panel { ready, from_rows, from_columns };

/// C (rows x cols) = alpha * A * B + beta * C for up to 32 x 32 elements of C, whose rows are
/// contiguous. With beta == 0, C is not read. Several products over parts of k, marked by
/// `is_first` and `is_last`, accumulate into the same sums before these are written to C.
template <class In, class Acc>
struct TileProduct {
  std::int64_t k;  // extent of k, in elements
  std::int64_t rows, cols;

  // Tiles of A, in place or packed by TileKernels::pack_a. Strides are in bytes.
  const void* a;
  std::int64_t a_row;   // between rows of a tile
  std::int64_t a_tile;  // between tiles along k
  std::int64_t a_below;
  const KGroup* a_last;  // if not null, the packed last tiles of k, which are partial
  // Rows of A for a later product, which are prefetched into L2: one cache line of each row per
  // tile of k. The stride is in bytes.
  const void* a_next;
  std::int64_t a_next_rows, a_next_stride;

  // For each tile of k, two adjacent tiles of 16 k-groups by 16 columns.
  KGroup* panel;
  const In* b;  // source of the panel
  std::int64_t b_stride;
  std::int64_t b_next;  // elements from b to the data prefetched into L2; 0: none

  // Four tiles of sums: in C, if C has room for all of them, or elsewhere. Strides are in elements.
  Acc* sums;
  std::int64_t sums_row, sums_right, sums_below;
  bool is_first;  // sums start from 0

  bool is_last;  // write the sums to C, if they are elsewhere
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
  /// Configures the calling thread's tiles for products of up to `rows` rows; end() releases them,
  /// so that context switches save less state. Products with fewer rows still read `rows` rows of
  /// A, so their A must be packed.
  void (*begin)(std::int64_t rows);
  void (*end)();
  using Multiply = void (*)(const TileProduct<In, Acc>& product);
  Multiply products[3][2][2];  // [Panel][more than 16 rows][more than 16 columns]

  /// Packs rows x k elements (at most 32 rows): for each tile of k a pair of tiles, one below the
  /// other, padded with zeros.
  void (*pack_a)(const Matrix<const In>& a, std::int64_t rows, std::int64_t k, KGroup* tiles);

  Multiply product(Panel panel, std::int64_t rows, std::int64_t cols) const {
    return products[static_cast<int>(panel)][rows > tile_rows][cols > tile_rows];
  }
};

/// Null if the CPU has no AMX, or if the operating system denies it to this process (checked at the
/// first call). Available for bfloat16 to float and int8 to int32.
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
