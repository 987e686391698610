#pragma once
// Converts sums of products of halves to sums of products of floats: scales them, and recomputes in
// float those that splitting may have made inaccurate.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/epilogue/sums_again.cuh"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/tile/halves.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung::cuda {

/// The scaled sums of a warp: 16 rows and 8 J columns.
template <int J>
class ScaledSums {
 public:
  /// For a warp whose sums begin at element (row, col) of C.
  static __device__ __forceinline__ ScaledSums of_warp(const Gemm<float>& g,
                                                       const OperandScales& scales,
                                                       const WorkTile& work, std::int64_t row,
                                                       std::int64_t col) {
    return ScaledSums(g, scales, work, row, col);
  }
  /// For a warp of a warpgroup whose 64 rows begin at element (row, col) of C.
  static __device__ __forceinline__ ScaledSums of_warpgroup(const Gemm<float>& g,
                                                            const OperandScales& scales,
                                                            const WorkTile& work, std::int64_t row,
                                                            std::int64_t col) {
    return ScaledSums(g, scales, work, row + static_cast<int>(threadIdx.x) % 128 / 32 * 16, col);
  }

  /// Scales the sums and recomputes doubtful ones. By Cauchy-Schwarz, the loss of accuracy of a row
  /// changes a sum by at most its loss times the norm of the column, and vice versa. A sum is
  /// doubtful if this may exceed (k / 8) u |A||B|. |A||B| is at least the sum itself. It is also at
  /// least 2^20 for each k-step at which both elements are large; the number of such steps is at
  /// least the sum of both counts of large elements, minus k.
  __device__ __forceinline__ void finish(float (&acc)[J][4]) const {
    const float largest_per_error = 0x1p27f / static_cast<float>(g_.k);
    const float steps = 0x1.01p0f * static_cast<float>(g_.k);  // counts are rounded, too
    const std::int64_t row = row_ + accumulator_row();
    const OperandScale a[] = {scale_at(scales_.a, row, g_.m), scale_at(scales_.a, row + 8, g_.m)};
    std::uint64_t doubtful = 0;
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      const std::int64_t col = col_ + j * 8 + accumulator_col();
      const OperandScale b[] = {scale_at(scales_.b, col, g_.n), scale_at(scales_.b, col + 1, g_.n)};
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const OperandScale& of_a = a[i / 2];
        const OperandScale& of_b = b[i % 2];
        const float least = (of_a.loss * of_b.norm + of_a.norm * of_b.loss) * largest_per_error;
        const int exponent = of_a.exponent + of_b.exponent;
        const float both_large = (of_a.large + of_b.large - steps) * 0x1p20f;
        const bool is_doubtful = __builtin_fabsf(acc[j][i]) < least && both_large < least;
        doubtful |= std::uint64_t{is_doubtful} << (4 * j + i);
        acc[j][i] = scaled(acc[j][i], exponent < -252 ? -252 : exponent);
        if (least != least) acc[j][i] = least;  // NaN in the row or the column
      }
    }
    const std::int64_t k_end = work_.k_end < g_.k ? work_.k_end : g_.k;
    SumsAgain<J, float, float>{g_.a, g_.b, g_.m, g_.n, row_, col_, work_.k_begin, k_end}.replace(
        doubtful, acc);
  }

 private:
  __device__ __forceinline__ ScaledSums(const Gemm<float>& g, const OperandScales& scales,
                                        const WorkTile& work, std::int64_t row, std::int64_t col)
      : g_(g), scales_(scales), work_(work), row_(row), col_(col) {}

  static __device__ __forceinline__ OperandScale scale_at(const OperandScale* scales,
                                                          std::int64_t i, std::int64_t count) {
    return i < count ? scales[i] : OperandScale{0, 0.0f, 0.0f, 0.0f};
  }

  const Gemm<float>& g_;
  const OperandScales& scales_;
  const WorkTile& work_;
  std::int64_t row_, col_;
};

}  // namespace rung::cuda
