#pragma once
// Results of products by packed weights: a lane has neighbours along the rows of A, which are far apart
// in C, so they go through shared memory.

#include <cstdint>

#include "device/cuda/entry/weight_only.hpp"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// Stores C at an element of the type that the problem has.
template <class In>
__device__ __forceinline__ void store_weight_only(const WeightOnlyArgs<In>& args, std::int64_t row,
                                                  std::int64_t col, float sum) {
  const Gemm<In, float>& g = args.gemm.problem;
  float& c = g.c(0, 0);
  const std::int64_t at = row * g.c.row_stride + col * g.c.col_stride;
  float result = g.alpha * sum;
  if (args.c_is_float) {
    (&c)[at] = g.beta == 0 ? result : result + g.beta * (&c)[at];
  } else {
    In* const rounded = reinterpret_cast<In*>(&c) + at;
    if (g.beta != 0) result += g.beta * static_cast<float>(*rounded);
    *rounded = In(result);
  }
}

/// Neighbours along the rows of the weights: several are loaded at a time from the parts of k, where
/// latency is most of the time.
struct alignas(16) FourSums {
  float at[4];

  __device__ __forceinline__ void operator+=(const FourSums& others) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) at[i] += others.at[i];
  }
};

/// In shared memory: COLS rows of A by ROWS rows of the weights.
template <int COLS, int ROWS>
struct WeightOnlyResults {
  static constexpr int PITCH = ROWS + 4;  // lanes in different banks
  alignas(16) float at[COLS * PITCH];

  /// The sums of a warp, of 16 rows from `row` on, as mma.m16n8k16 has them.
  __device__ __forceinline__ void stage(int row, const float (&sums)[COLS / 8][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    RUNG_UNROLL
    for (int j = 0; j < COLS / 8; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        at[(j * 8 + lane % 4 * 2 + i % 2) * PITCH + row + lane / 4 + i / 2 * 8] = sums[j][i];
      }
    }
  }

  /// All THREADS of a block, once the results are complete. The tile begins at row few0 of A and row
  /// many0 of the weights.
  template <int THREADS, class In>
  __device__ __forceinline__ void store(const WeightOnlyArgs<In>& args, const BlockWork& work,
                                        std::int64_t few0, std::int64_t many0) const {
    constexpr int FOURS = ROWS / 4;
    const Gemm<In, float>& g = args.gemm.problem;
    const int count = static_cast<int>(g.m - few0 < COLS ? g.m - few0 : COLS) * FOURS;
    const auto store = [&](int i, const FourSums& sums) RUNG_INLINE_LAMBDA {
      const std::int64_t row = many0 + i % FOURS * 4;
      RUNG_UNROLL
      for (int r = 0; r < 4; ++r) {
        if (row + r < g.n) store_weight_only(args, few0 + i / FOURS, row + r, sums.at[r]);
      }
    };
    const auto result = [&](int i) RUNG_INLINE_LAMBDA {
      return *reinterpret_cast<const FourSums*>(&at[i / FOURS * PITCH + i % FOURS * 4]);
    };
    // Of a small tile, one block adds up the parts as fast as all do.
    if constexpr (COLS > 32) {
      if (!work.is_whole()) {
        share_sums<THREADS, COLS * FOURS>(args.gemm.split_k.workspace, work, count, result, store);
        return;
      }
    }
    store_by_last<THREADS, COLS * FOURS>(args.gemm.split_k.workspace, work, count, result, store);
  }
};

}  // namespace rung::cuda
