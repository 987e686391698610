#pragma once
// Corrects sums of products with float operands that were split into parts: recomputes sums that
// are not finite, and those whose row or column has an element that its parts do not represent
// exactly.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/epilogue/sums_again.cuh"
#include "device/cuda/library/mixed_operand.hpp"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung::cuda {

/// Corrects sums of a product whose A (if A_IS_NARROW) or B is bfloat16, and the other one float.
template <bool A_IS_NARROW>
struct PartSums {
  const Gemm<bfloat16, float>& g;
  const OperandScales& scales;  // scales of the float operand; null for the other one

  /// Corrects a warpgroup's sums: 64 rows and 8 J columns from element (row, col) of C.
  template <int J>
  __device__ __forceinline__ void finish(const WorkTile& work, std::int64_t row, std::int64_t col,
                                         float (&acc)[J][4]) const {
    row += static_cast<int>(threadIdx.x) % 128 / 32 * 16;
    const std::int64_t my_row = row + accumulator_row();
    const bool rows[] = {is_inexact(scales.a, my_row, g.m), is_inexact(scales.a, my_row + 8, g.m)};
    std::uint64_t doubtful = 0;
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      const std::int64_t my_col = col + j * 8 + accumulator_col();
      const bool cols[] = {is_inexact(scales.b, my_col, g.n),
                           is_inexact(scales.b, my_col + 1, g.n)};
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const bool is_finite = __builtin_fabsf(acc[j][i]) < __builtin_inff();
        const bool exists = my_row + i / 2 * 8 < g.m && my_col + i % 2 < g.n;
        const bool is_doubtful = exists && (!is_finite || rows[i / 2] || cols[i % 2]);
        doubtful |= std::uint64_t{is_doubtful} << (4 * j + i);
      }
    }
    const std::int64_t k_end = work.k_end < g.k ? work.k_end : g.k;
    if constexpr (A_IS_NARROW) {
      SumsAgain<J, bfloat16, float>{g.a, floats(g.b), g.m, g.n, row, col, work.k_begin, k_end}
          .replace(doubtful, acc);
    } else {
      SumsAgain<J, float, bfloat16>{floats(g.a), g.b, g.m, g.n, row, col, work.k_begin, k_end}
          .replace(doubtful, acc);
    }
  }

 private:
  static __device__ __forceinline__ bool is_inexact(const OperandScale* of, std::int64_t i,
                                                    std::int64_t count) {
    return of != nullptr && i < count && of[i].loss > 0;
  }

  /// The float operand, whose pointer has the type bfloat16.
  static __device__ __forceinline__ Matrix<const float> floats(const Matrix<const bfloat16>& x) {
    return {reinterpret_cast<const float*>(x.data), x.row_stride, x.col_stride};
  }
};

}  // namespace rung::cuda
