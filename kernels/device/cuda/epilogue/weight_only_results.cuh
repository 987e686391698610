#pragma once
// Stores results of products by packed weights. A lane holds neighbors along the rows of A, which
// are far apart in C, so results go through shared memory.

#include <cstdint>

#include "device/cuda/entry/weight_only.hpp"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// alpha * sum + beta * c; c is not read if beta is 0.
template <class Out, class In>
__device__ __forceinline__ Out weight_only_result(const Gemm<In, float>& g, float sum,
                                                  const Out& c) {
  const float result = g.alpha * sum;
  return Out(g.beta == 0 ? result : result + g.beta * static_cast<float>(c));
}

/// Stores a result to C, whose type is run-time data.
template <class In>
__device__ __forceinline__ void store_weight_only(const WeightOnlyArgs<In>& args, std::int64_t row,
                                                  std::int64_t col, float sum) {
  const Gemm<In, float>& g = args.gemm.problem;
  const auto store = [&]<class Out>(Out* c) RUNG_INLINE_LAMBDA {
    c += row * g.c.row_stride + col * g.c.col_stride;
    *c = weight_only_result(g, sum, *c);
  };
  args.c_is_float ? store(g.c.data) : store(reinterpret_cast<In*>(g.c.data));
}

/// Four sums, adjacent along the rows of the weights. Partial sums are loaded four at a time,
/// because latency dominates.
struct alignas(16) FourSums {
  float at[4];

  __device__ __forceinline__ void operator+=(const FourSums& others) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) at[i] += others.at[i];
  }
};

/// Stores four adjacent elements of a row of C, except those outside C: together if C is aligned.
template <class Out, class In>
__device__ __forceinline__ void store_four(const Gemm<In, float>& g, std::int64_t row,
                                           std::int64_t col, const FourSums& sums) {
  using Four = Vector<Out, 4>;
  Out* const to = reinterpret_cast<Out*>(g.c.data) + row * g.c.row_stride + col * g.c.col_stride;
  if (g.c.col_stride == 1 && col + 4 <= g.n &&
      reinterpret_cast<std::uintptr_t>(to) % sizeof(Four) == 0) {
    Four four = {};
    if (g.beta != 0) four = *reinterpret_cast<Four*>(to);
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) four.at[i] = weight_only_result(g, sums.at[i], four.at[i]);
    *reinterpret_cast<Four*>(to) = four;
    return;
  }
  RUNG_UNROLL
  for (int i = 0; i < 4; ++i) {
    Out& c = to[i * g.c.col_stride];
    if (col + i < g.n) c = weight_only_result(g, sums.at[i], c);
  }
}

/// Results in shared memory: COLS rows of A by ROWS rows of the weights.
template <int COLS, int ROWS>
struct WeightOnlyResults {
  static constexpr int PITCH = ROWS + 4;  // lanes access different banks
  alignas(16) float at[COLS * PITCH];

  /// Writes the sums of a warp, 16 rows from `row` in the layout of mma.m16n8k16.
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

  /// Stores the results. Called by all THREADS of a block when the results are complete. The tile
  /// begins at row few0 of A and row many0 of the weights.
  template <int THREADS, class In>
  __device__ __forceinline__ void store(const WeightOnlyArgs<In>& args, const BlockWork& work,
                                        std::int64_t few0, std::int64_t many0) const {
    constexpr int FOURS = ROWS / 4;
    const Gemm<In, float>& g = args.gemm.problem;
    const int count = static_cast<int>(g.m - few0 < COLS ? g.m - few0 : COLS) * FOURS;
    const auto store = [&](int i, const FourSums& sums) RUNG_INLINE_LAMBDA {
      const std::int64_t row = few0 + i / FOURS, col = many0 + i % FOURS * 4;
      args.c_is_float ? store_four<float>(g, row, col, sums) : store_four<In>(g, row, col, sums);
    };
    const auto result = [&](int i) RUNG_INLINE_LAMBDA {
      return *reinterpret_cast<const FourSums*>(&at[i / FOURS * PITCH + i % FOURS * 4]);
    };
    // For a small tile, one block adds up the splits as fast as all blocks together.
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
