// Splits float operands into halves for tensor cores: scales each row of A and column of B by a
// power of two and stores float16 high and low halves. Keeps the operand's layout. One launch
// splits both operands, because a small one would leave SMs idle. Registered like a rung, but not
// on the ladder.

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

/// The number of blocks that split an operand, and the index of this one.
struct BlockOf {
  std::int64_t index, count;
};

/// Each block splits whole rows.
__device__ __forceinline__ void split_by_row(const SplitOperand& split, const BlockOf& block) {
  __shared__ unsigned largest[warps];
  __shared__ LineSums of_warps[warps];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / lanes;
  for (std::int64_t row = block.index; row < split.rows; row += block.count) {
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
    // sync: all warps have found their maximum
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
    // sync: all warps have added up their squares and read the maxima
    __syncthreads();
    if (thread != 0) continue;
    LineSums of_row = {0, 0, 0};
    RUNG_UNROLL_4
    for (int w = 0; w < warps; ++w) add(of_row, of_warps[w]);
    split.scales[row] = scale.scale(of_row);
  }
}

/// The number of threads of a block that share a column.
inline constexpr int shares = SplitOperand::threads / SplitOperand::columns;

/// Calls f(row, x) for every row of this thread's share of a column. A thread has eight loads in
/// flight, because a small operand occupies few blocks.
template <class F>
__device__ __forceinline__ void for_each_row(const SplitOperand& split, int share, std::int64_t col,
                                             const F& f) {
  constexpr int at_once = 8;
  const float* const from = split.from + col;
  const bool exists = col < split.row_length;
  for (std::int64_t first = share; first < split.rows; first += at_once * shares) {
    float x[at_once];
    RUNG_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t row = first + i * shares;
      x[i] = exists && row < split.rows ? from[row * split.from_ld] : 0.0f;
    }
    RUNG_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t row = first + i * shares;
      if (row < split.rows) f(row, x[i]);
    }
  }
}

/// Each block splits a few columns.
__device__ __forceinline__ void split_by_column(const SplitOperand& split, const BlockOf& block) {
  constexpr int columns = SplitOperand::columns;
  __shared__ unsigned largest[shares][columns];
  __shared__ LineSums of_shares[shares][columns];
  const int column = static_cast<int>(threadIdx.x) % columns;
  const int share = static_cast<int>(threadIdx.x) / columns;
  const std::int64_t end = SplitOperand::halves_in_row(split.row_length) / 2;
  for (std::int64_t first = block.index * columns; first < end; first += block.count * columns) {
    const std::int64_t col = first + column;
    const bool exists = col < split.row_length;
    unsigned most = 0;
    for_each_row(split, share, col, [&](std::int64_t, float x) {
      const unsigned bits = magnitude_bits(x);
      most = bits > most ? bits : most;
    });
    largest[share][column] = most;
    // sync: all threads have found their maximum
    __syncthreads();
    RUNG_UNROLL_4
    for (int s = 0; s < shares; ++s) most = largest[s][column] > most ? largest[s][column] : most;

    const HalfScale scale(most);
    LineSums sums = {0, 0, 0};
    for_each_row(split, share, col,
                 [&](std::int64_t row, float x) { put(split, scale, row, col, x, sums); });
    of_shares[share][column] = sums;
    // sync: all threads have added up their squares and read the maxima
    __syncthreads();
    if (share != 0 || !exists) continue;
    LineSums of_column = {0, 0, 0};
    RUNG_UNROLL_4
    for (int s = 0; s < shares; ++s) add(of_column, of_shares[s][column]);
    split.scales[col] = scale.scale(of_column);
  }
}

}  // namespace rung::cuda

// Two blocks per SM: with one, a product of 1024 x 1024 x 1024 takes a tenth longer.
extern "C" __global__ void __launch_bounds__(rung::cuda::SplitOperand::threads, 2)
    gemm_cuda_library_split_operand_f32(rung::cuda::SplitOperands operands) {
  const unsigned begin = operands.blocks_of_first;
  const bool is_first = blockIdx.x < begin;
  const rung::cuda::SplitOperand split = is_first ? operands.first : operands.second;
  const rung::cuda::BlockOf block = {blockIdx.x - (is_first ? 0 : begin),
                                     is_first ? begin : gridDim.x - begin};
  if (split.is_scaled_by_row) {
    rung::cuda::split_by_row(split, block);
  } else {
    rung::cuda::split_by_column(split, block);
  }
}

#endif
