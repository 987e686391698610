#pragma once
// Recomputes sums of products by FMAs in float, from unconverted elements, if tensor cores cannot
// compute them accurately.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/ptx/warp.cuh"

namespace rung::cuda {

/// Recomputes a warp's accumulators over k-steps [k_begin, k_end): 16 rows and 8 J columns from
/// element (row, col) of C (m x n).
template <int J, class A, class B>
struct SumsAgain {
  static_assert(4 * J <= 64, "a bit for each sum");

  Matrix<const A> a;
  Matrix<const B> b;
  std::int64_t m, n, row, col, k_begin, k_end;

  /// Replaces the sums whose bit is set, or all sums if many bits are set. Bit 4 j + i stands for
  /// acc[j][i].
  __device__ __forceinline__ void replace(std::uint64_t doubtful, float (&acc)[J][4]) const {
    constexpr unsigned many = 12;  // recomputing that many one by one takes as long as all
    if (ptx::vote_ballot(doubtful != 0) == 0) return;
    std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcountll(doubtful));
    RUNG_UNROLL
    for (unsigned by = 16; by > 0; by /= 2) count += ptx::shfl_down(count, by);
    const bool are_many = threadIdx.x % 32 == 0 && count > many;
    if (ptx::vote_ballot(are_many) != 0) {
      replace_all(acc);
    } else {
      replace_each(doubtful, acc);
    }
  }

 private:
  /// One sum after another, each by the whole warp.
  __device__ __forceinline__ void replace_each(std::uint64_t doubtful, float (&acc)[J][4]) const {
    const int my_lane = static_cast<int>(threadIdx.x) % 32;
    RUNG_NO_UNROLL
    for (int index = 0; index < 4 * J; ++index) {
      std::uint32_t lanes = ptx::vote_ballot((doubtful >> index & 1) != 0);
      RUNG_NO_UNROLL
      for (int lane = 0; lanes != 0; ++lane, lanes >>= 1) {
        if ((lanes & 1) == 0) continue;
        const float sum = sum_of_warp(row + lane / 4 + index % 4 / 2 * 8,
                                      col + index / 4 * 8 + lane % 4 * 2 + index % 2, my_lane);
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

  __device__ __forceinline__ float sum_of_warp(std::int64_t its_row, std::int64_t its_col,
                                               int my_lane) const {
    float sum = 0;
    RUNG_NO_UNROLL
    for (std::int64_t k = k_begin + my_lane; k < k_end; k += 32) {
      sum += static_cast<float>(a(its_row, k)) * static_cast<float>(b(k, its_col));
    }
    RUNG_UNROLL
    for (unsigned by = 16; by > 0; by /= 2) sum += ptx::shfl_down(sum, by);
    return ptx::shfl_idx(sum, 0);
  }

  /// Each lane recomputes its own sums from loads that lanes share. Partial sums of 64 k-steps are
  /// added up, because a chain over all of k would exceed the error bound.
  __device__ __forceinline__ void replace_all(float (&acc)[J][4]) const {
    constexpr std::int64_t chain = 64;
    const std::int64_t my_row = row + accumulator_row(), my_col = col + accumulator_col();
    const A* const rows[] = {&a(my_row < m ? my_row : m - 1, 0),
                             &a(my_row + 8 < m ? my_row + 8 : m - 1, 0)};
    const int cols = static_cast<int>(n - my_col < 8 * J ? n - my_col : 8 * J);
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) acc[j][i] = 0;
    }
    RUNG_NO_UNROLL
    for (std::int64_t k0 = k_begin; k0 < k_end; k0 += chain) {
      const std::int64_t end = k0 + chain < k_end ? k0 + chain : k_end;
      float sums[J][4] = {};
      RUNG_NO_UNROLL
      for (std::int64_t k = k0; k < end; ++k) {
        const float of_a[] = {static_cast<float>(rows[0][k * a.col_stride]),
                              static_cast<float>(rows[1][k * a.col_stride])};
        const B* from = &b(k, my_col);
        RUNG_UNROLL
        for (int j = 0; j < J; ++j, from += 8 * b.col_stride) {
          const float of_b[] = {8 * j < cols ? static_cast<float>(from[0]) : 0.0f,
                                8 * j + 1 < cols ? static_cast<float>(from[b.col_stride]) : 0.0f};
          RUNG_UNROLL
          for (int i = 0; i < 4; ++i)
            sums[j][i] = __builtin_fmaf(of_a[i / 2], of_b[i % 2], sums[j][i]);
        }
      }
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) acc[j][i] += sums[j][i];
      }
    }
  }
};

}  // namespace rung::cuda
