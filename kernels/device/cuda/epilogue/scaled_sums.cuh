#pragma once
// From sums of products of halves to sums of products of floats: scales them, and computes those
// again, in float, that splitting may have spoiled.

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

/// The scaled sums of a warp: 16 rows of 8 J columns.
template <int J>
class ScaledSums {
 public:
  /// From element (row, col) of C on.
  static __device__ __forceinline__ ScaledSums of_warp(const Gemm<float>& g,
                                                       const OperandScales& scales,
                                                       const WorkTile& work, std::int64_t row,
                                                       std::int64_t col) {
    return ScaledSums(g, scales, work, row, col);
  }
  /// Of a warp of a warpgroup, whose 64 rows begin there.
  static __device__ __forceinline__ ScaledSums of_warpgroup(const Gemm<float>& g,
                                                            const OperandScales& scales,
                                                            const WorkTile& work, std::int64_t row,
                                                            std::int64_t col) {
    return ScaledSums(g, scales, work, row + static_cast<int>(threadIdx.x) % 128 / 32 * 16, col);
  }

  /// What elements of a row and a column lose changes their sum by at most loss x norm of the other,
  /// for each of both (Cauchy and Schwarz). A sum is doubtful if that may be more than k / 8 times u of
  /// |A||B|. This is at least the sum itself; and it is at least 2^20 for each step at which both
  /// elements are large, of which there are no fewer than what the large ones of both exceed k by.
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
        if (least != least) acc[j][i] = least;  // a NaN in the row or the column
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
