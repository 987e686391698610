#pragma once
// Converts exact sums of products of digits to results. The order and rounding of all operations
// are fixed, so every device, tile and batch gives the same bits.

#include <cstdint>

#include "core/digits.hpp"
#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// The bins of one warpgroup: sums for 64 rows and 8 J columns from element (row, col) of C, over
/// k-steps [k_begin, k_end).
template <int J>
class DigitSums {
 public:
  using Bins = std::int32_t[digits::count][J][4];

  __device__ __forceinline__ DigitSums(const Gemm<float>& g, const OperandScales& scales,
                                       std::int64_t row, std::int64_t col, std::int64_t k_begin,
                                       std::int64_t k_end)
      : g_(g), scales_(scales), col_(col + accumulator_col()), k_begin_(k_begin), k_end_(k_end) {
    row_ = row + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
  }

  /// Combines the bins into sums, rounded once.
  static __device__ __forceinline__ void collapse(const Bins& bins, float (&sums)[J][4]) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        sums[j][i] = digits::sum_of(bins[0][j][i], bins[1][j][i], bins[2][j][i]);
      }
    }
  }

  /// Converts these to sums of products of floats.
  __device__ __forceinline__ void finish(float (&sums)[J][4]) const {
    const OperandScale a[] = {scale_at(scales_.a, row_, g_.m), scale_at(scales_.a, row_ + 8, g_.m)};
    std::uint64_t unfit = 0;
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      const std::int64_t col = col_ + j * 8;
      const OperandScale b[] = {scale_at(scales_.b, col, g_.n), scale_at(scales_.b, col + 1, g_.n)};
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const OperandScale &of_a = a[i / 2], &of_b = b[i % 2];
        sums[j][i] = digits::in_units(sums[j][i], of_a.exponent, of_b.exponent);
        unfit |= std::uint64_t{of_a.loss + of_b.loss > 0} << (4 * j + i);
      }
    }
    if (ptx::vote_ballot(unfit != 0) == 0) return;
    RUNG_UNROLL
    for (int j = 0; j < J; j += CHAINS) {
      if (ptx::vote_ballot((unfit >> (4 * j) & 0xFFFF) != 0) == 0) continue;
      double chains[CHAINS][4] = {};
      add_up(col_ + j * 8, chains);
      RUNG_UNROLL
      for (int c = 0; c < CHAINS; ++c) {
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) {
          const bool replaces = (unfit >> (4 * (j + c) + i) & 1) != 0;
          if (replaces) sums[j + c][i] = static_cast<float>(chains[c][i]);
        }
      }
    }
  }

  /// alpha * sum + beta * c. The product with beta is rounded first, then the sum. Zeros become +0.
  __device__ __forceinline__ void scale(float beta, float (&sums)[J][4]) const {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const std::int64_t row = row_ + i / 2 * 8, col = col_ + j * 8 + i % 2;
        float old = 0;
        if (beta != 0 && row < g_.m && col < g_.n) old = beta * g_.c(row, col);
        sums[j][i] = __builtin_fmaf(g_.alpha, sums[j][i], old) + 0.0f;
      }
    }
  }

 private:
  static constexpr int CHAINS = 4;  // columns per group; limited by registers
  static constexpr int STEPS = 4;   // k-steps whose loads are in flight
  static_assert(J % CHAINS == 0 && 4 * J <= 64);

  static __device__ __forceinline__ OperandScale scale_at(const OperandScale* scales,
                                                          std::int64_t i, std::int64_t count) {
    return i < count ? scales[i] : OperandScale{0, 0.0f, 0.0f, 0.0f};
  }

  /// Adds products in double, in chains by ascending k. Products of floats are exact in double.
  __device__ __forceinline__ void add_up(std::int64_t col, double (&chains)[CHAINS][4]) const {
    const auto inside = [](std::int64_t i, std::int64_t count) {
      return i < count ? i : count - 1;
    };
    const std::int64_t rows[] = {inside(row_, g_.m), inside(row_ + 8, g_.m)};
    RUNG_NO_UNROLL
    for (std::int64_t k = k_begin_; k < k_end_; k += STEPS) {
      // load: a few steps at once; steps after the end load zeros, which do not change a sum
      float a[STEPS][2], b[STEPS][CHAINS][2];
      RUNG_UNROLL
      for (int step = 0; step < STEPS; ++step) {
        const bool exists = k + step < k_end_;
        RUNG_UNROLL
        for (int i = 0; i < 2; ++i) a[step][i] = exists ? g_.a(rows[i], k + step) : 0.0f;
        RUNG_UNROLL
        for (int c = 0; c < 2 * CHAINS; ++c) {
          const std::int64_t at = inside(col + c / 2 * 8 + c % 2, g_.n);
          b[step][c / 2][c % 2] = exists ? g_.b(k + step, at) : 0.0f;
        }
      }
      RUNG_UNROLL
      for (int step = 0; step < STEPS; ++step) {
        RUNG_UNROLL
        for (int c = 0; c < CHAINS; ++c) {
          RUNG_UNROLL
          for (int i = 0; i < 4; ++i) {
            chains[c][i] =
                __builtin_fma(double{a[step][i / 2]}, double{b[step][c][i % 2]}, chains[c][i]);
          }
        }
      }
    }
  }

  const Gemm<float>& g_;
  const OperandScales& scales_;
  std::int64_t row_, col_, k_begin_, k_end_;
};

}  // namespace rung::cuda
