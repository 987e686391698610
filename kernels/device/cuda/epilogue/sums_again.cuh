#pragma once
// Sums of products of elements as they are, by FMAs in float: for those that tensor cores cannot give.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/ptx/warp.cuh"

namespace rung::cuda {

/// For a warp's accumulators, 16 rows of 8 J columns from element (row, col) of C on: their sums over
/// the steps from k_begin to k_end.
template <int J, class A, class B>
struct SumsAgain {
  static_assert(4 * J <= 64, "a bit for each sum");

  Matrix<const A> a;
  Matrix<const B> b;
  std::int64_t row, col, k_begin, k_end;

  /// Replaces the sums whose bit is set, one after another. Bit 4 j + i is for acc[j][i].
  __device__ __forceinline__ void replace(std::uint64_t doubtful, float (&acc)[J][4]) const {
    if (ptx::vote_ballot(doubtful != 0) == 0) return;
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

 private:
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
};

}  // namespace rung::cuda
