#pragma once
// From sums of products of halves to sums of products of floats: scales them, and computes those
// again, in float, that splitting may have spoiled.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/halves.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung::cuda {

/// The scaled sums of a warp: 16 rows of 8 J columns.
template <int J>
class ScaledSums {
  static_assert(4 * J <= 64, "a bit for each sum");

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
  /// |A||B|, which is at least the sum itself.
  __device__ __forceinline__ void finish(float (&acc)[J][4]) const {
    const float largest_per_error = 0x1p27f / static_cast<float>(g_.k);
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
        const bool is_doubtful = __builtin_fabsf(acc[j][i]) < least;
        doubtful |= std::uint64_t{is_doubtful} << (4 * j + i);
        acc[j][i] = scaled(acc[j][i], exponent < -252 ? -252 : exponent);
        if (least != least) acc[j][i] = least;  // a NaN in the row or the column
      }
    }
    if (ptx::vote_ballot(doubtful != 0) != 0) compute_again(doubtful, acc);
  }

 private:
  __device__ __forceinline__ ScaledSums(const Gemm<float>& g, const OperandScales& scales,
                                        const WorkTile& work, std::int64_t row, std::int64_t col)
      : g_(g), scales_(scales), work_(work), row_(row), col_(col) {}

  static __device__ __forceinline__ OperandScale scale_at(const OperandScale* scales,
                                                          std::int64_t i, std::int64_t count) {
    return i < count ? scales[i] : OperandScale{0, 0.0f, 0.0f};
  }

  /// The warp computes doubtful sums one after another.
  __device__ __forceinline__ void compute_again(std::uint64_t doubtful, float (&acc)[J][4]) const {
    const int my_lane = static_cast<int>(threadIdx.x) % 32;
    RUNG_NO_UNROLL
    for (int index = 0; index < 4 * J; ++index) {
      std::uint32_t lanes = ptx::vote_ballot((doubtful >> index & 1) != 0);
      RUNG_NO_UNROLL
      for (int lane = 0; lanes != 0; ++lane, lanes >>= 1) {
        if ((lanes & 1) == 0) continue;
        const std::int64_t row = row_ + lane / 4 + index % 4 / 2 * 8;
        const std::int64_t col = col_ + index / 4 * 8 + lane % 4 * 2 + index % 2;
        const float sum = sum_of_warp(row, col, my_lane);
        RUNG_UNROLL
        for (int j = 0; j < J; ++j) {
          RUNG_UNROLL
          for (int i = 0; i < 4; ++i) {
            if (lane == my_lane && index == 4 * j + i) acc[j][i] = sum;
          }
        }
      }
    }
  }

  /// The sum of products of floats for an element of C, as far as `work_` has it.
  __device__ __forceinline__ float sum_of_warp(std::int64_t row, std::int64_t col,
                                               int my_lane) const {
    const std::int64_t end = work_.k_end < g_.k ? work_.k_end : g_.k;
    float sum = 0;
    RUNG_NO_UNROLL
    for (std::int64_t k = work_.k_begin + my_lane; k < end; k += 32) {
      sum += g_.a(row, k) * g_.b(k, col);
    }
    RUNG_UNROLL
    for (unsigned by = 16; by > 0; by /= 2) sum += ptx::shfl_down(sum, by);
    return ptx::shfl_idx(sum, 0);
  }

  const Gemm<float>& g_;
  const OperandScales& scales_;
  const WorkTile& work_;
  std::int64_t row_, col_;
};

}  // namespace rung::cuda
