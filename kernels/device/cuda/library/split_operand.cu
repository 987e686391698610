// Splits an operand of floats into halves for tensor cores: scales each row of A and column of B by
// a power of two, and stores float16 high and low halves. The layout stays that of the operand. The
// kernel is offered like a rung, but is not on the ladder.

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/tile/halves.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_split_operand = {
    .entry = "gemm_cuda_library_split_operand", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

inline constexpr int lanes = 32;
inline constexpr int warps = SplitOperand::threads / lanes;

__device__ __forceinline__ unsigned magnitude_bits(float x) {
  return __builtin_bit_cast(unsigned, x) & 0x7FFFFFFF;
}

__device__ __forceinline__ void add(LineSums& sums, const LineSums& more) {
  sums.loss += more.loss;
  sums.elements += more.elements;
  sums.large += more.large;
}

__device__ __forceinline__ void put(const SplitOperand& split, const HalfScale& scale,
                                    std::int64_t row, std::int64_t col, float x, LineSums& sums) {
  constexpr int chunk = SplitOperand::chunk;
  auto* const to = static_cast<float16*>(split.to) +
                   row * SplitOperand::halves_in_row(split.row_length) + col / chunk * 2 * chunk +
                   col % chunk;
  float16 high, low;
  scale.split(x, high, low, sums);
  to[0] = high;
  to[chunk] = low;
}

/// A block splits whole rows.
__device__ __forceinline__ void split_by_row(const SplitOperand& split) {
  __shared__ unsigned largest[warps];
  __shared__ LineSums of_warps[warps];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / lanes;
  for (std::int64_t row = blockIdx.x; row < split.rows; row += gridDim.x) {
    const float* const from = split.from + row * split.from_ld;
    unsigned most = 0;
    for (std::int64_t i = thread; i < split.row_length; i += SplitOperand::threads) {
      const unsigned bits = magnitude_bits(from[i]);
      most = bits > most ? bits : most;
    }
    RUNG_UNROLL
    for (unsigned by = lanes / 2; by > 0; by /= 2) {
      const unsigned other = ptx::shfl_down(most, by);
      most = other > most ? other : most;
    }
    if (thread % lanes == 0) largest[warp] = most;
    // sync: all warps have found their largest
    __syncthreads();
    RUNG_UNROLL
    for (int w = 0; w < warps; ++w) most = largest[w] > most ? largest[w] : most;

    const HalfScale scale(most);
    LineSums sums = {0, 0, 0};
    const std::int64_t end = SplitOperand::halves_in_row(split.row_length) / 2;
    for (std::int64_t i = thread; i < end; i += SplitOperand::threads) {
      put(split, scale, row, i, i < split.row_length ? from[i] : 0.0f, sums);
    }
    RUNG_UNROLL
    for (unsigned by = lanes / 2; by > 0; by /= 2) {
      add(sums, {ptx::shfl_down(sums.loss, by), ptx::shfl_down(sums.elements, by),
                 ptx::shfl_down(sums.large, by)});
    }
    if (thread % lanes == 0) of_warps[warp] = sums;
    // sync: all warps have added up their squares, and have read the largest
    __syncthreads();
    if (thread != 0) continue;
    LineSums of_row = {0, 0, 0};
    RUNG_UNROLL_4
    for (int w = 0; w < warps; ++w) add(of_row, of_warps[w]);
    split.scales[row] = scale.scale(of_row);
  }
}

/// Calls f(row, x) for every row of this warp's share of a column. A thread has eight loads in
/// flight: few blocks share the columns of a small operand.
template <class F>
__device__ __forceinline__ void for_each_row(const SplitOperand& split, int warp, std::int64_t col,
                                             const F& f) {
  constexpr int at_once = 8;
  const float* const from = split.from + col;
  const bool exists = col < split.row_length;
  for (std::int64_t first = warp; first < split.rows; first += at_once * warps) {
    float x[at_once];
    RUNG_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t row = first + i * warps;
      x[i] = exists && row < split.rows ? from[row * split.from_ld] : 0.0f;
    }
    RUNG_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t row = first + i * warps;
      if (row < split.rows) f(row, x[i]);
    }
  }
}

/// A block splits 32 columns, one for each lane; its warps share the rows.
__device__ __forceinline__ void split_by_column(const SplitOperand& split) {
  __shared__ unsigned largest[warps][lanes];
  __shared__ LineSums of_warps[warps][lanes];
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t end = SplitOperand::halves_in_row(split.row_length) / 2;
  for (std::int64_t first = std::int64_t{blockIdx.x} * lanes; first < end;
       first += std::int64_t{gridDim.x} * lanes) {
    const std::int64_t col = first + lane;
    const bool exists = col < split.row_length;
    unsigned most = 0;
    for_each_row(split, warp, col, [&](std::int64_t, float x) {
      const unsigned bits = magnitude_bits(x);
      most = bits > most ? bits : most;
    });
    largest[warp][lane] = most;
    // sync: all warps have found their largest
    __syncthreads();
    RUNG_UNROLL
    for (int w = 0; w < warps; ++w) most = largest[w][lane] > most ? largest[w][lane] : most;

    const HalfScale scale(most);
    LineSums sums = {0, 0, 0};
    for_each_row(split, warp, col,
                 [&](std::int64_t row, float x) { put(split, scale, row, col, x, sums); });
    of_warps[warp][lane] = sums;
    // sync: all warps have added up their squares, and have read the largest
    __syncthreads();
    if (warp != 0 || !exists) continue;
    LineSums of_column = {0, 0, 0};
    RUNG_UNROLL_4
    for (int w = 0; w < warps; ++w) add(of_column, of_warps[w][lane]);
    split.scales[col] = scale.scale(of_column);
  }
}

}  // namespace rung::cuda

// Two blocks on an SM: half as many take a tenth longer for a product of 1024 x 1024 x 1024.
extern "C" __global__ void __launch_bounds__(rung::cuda::SplitOperand::threads, 2)
    gemm_cuda_library_split_operand_f32(rung::cuda::SplitOperand split) {
  if (split.is_scaled_by_row) {
    rung::cuda::split_by_row(split);
  } else {
    rung::cuda::split_by_column(split);
  }
}

#endif
