#pragma once
// Tiles that begin earlier where they would reach beyond the matrix, and so overlap their
// neighbours. TMA takes several times as long for a row outside of a matrix as for one inside, and a
// block that waits for such rows no longer reads the same lines as its neighbours at the same time
// (docs/notes/cuda-kernels.md, "Rows outside"). The results that neighbours compute, too, are not
// stored.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// Where a tile begins, and its first rows and columns that belong to its neighbours.
struct OverlappingTile {
  std::int64_t row, col;
  int skipped_rows, skipped_cols;
};

/// The tiles of BM x BN of a product, which overlap each other only if OVERLAPS. Determined before
/// the first one, because a block with one consumer waits for all that happens between its tiles.
template <int BM, int BN, bool OVERLAPS = true>
class OverlappingTiles {
 public:
  /// No tile overlaps others if results depend on C, which these may already have overwritten.
  template <class In, class Out>
  __device__ __forceinline__ explicit OverlappingTiles(const Gemm<In, Out>& g)
      : last_row_(g.beta != Scalar<Out>{}     ? none
                  : k_major<In>(operand_a(g)) ? last<BM, 1>(g.m)
                                              : last<BM, box>(g.m)),
        last_col_(g.beta != Scalar<Out>{}     ? none
                  : k_major<In>(operand_b(g)) ? last<BN, 128 / sizeof(Out)>(g.n)
                                              : last<BN, box>(g.n)) {}

  /// The tile that stores the results from `stored` on.
  __device__ __forceinline__ OverlappingTile at(const TileCoord& stored) const {
    if constexpr (!OVERLAPS) return {stored.row, stored.col, 0, 0};
    const int row = static_cast<int>(stored.row), col = static_cast<int>(stored.col);
    const int first_row = row < last_row_ ? row : last_row_;
    const int first_col = col < last_col_ ? col : last_col_;
    return {first_row, first_col, row - first_row, col - first_col};
  }

 private:
  static constexpr int none = 0x7fffffff;
  static constexpr int box = 64;  // rows or columns of a box of an MN-major operand

  template <class In>
  static __device__ __forceinline__ bool k_major(const Operand<In>& x) {
    return requires_k_major<In> || x.is_k_major();
  }

  /// The last row or column at which a tile of EXTENT begins: the first or a multiple of UNIT. A
  /// box of C has 128 bytes of a row.
  template <int EXTENT, int UNIT>
  static __device__ __forceinline__ int last(std::int64_t extent) {
    const int beyond = static_cast<int>(extent) - EXTENT;
    return beyond <= 0 ? 0 : (beyond + UNIT - 1) / UNIT * UNIT;
  }

  int last_row_, last_col_;
};

}  // namespace rung::cuda
