// Prepares operands for products of bfloat16 and float: writes floats as sums of three bfloat16
// (entry _f32) or bfloat16 as floats (entry _bf16). Keeps the operand's layout. Registered like a
// rung, but not on the ladder.

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/library/mixed_operand.hpp"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_mixed_operand = {
    .entry = "gemm_cuda_library_mixed_operand", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

inline constexpr int lanes = 32;
inline constexpr int warps = SplitParts::threads / lanes;

/// The first eight significant bits.
__device__ __forceinline__ float high_part(float x) {
  return ptx::mov_f32_b32(__builtin_bit_cast(std::uint32_t, x) & 0xFFFF0000);
}

/// Stores the parts of an element. Each has eight bits, so they are exact. Returns true if the
/// parts represent all bits. The low bits of a small element are subnormal, which tensor cores may
/// flush to 0.
__device__ __forceinline__ bool put(const SplitParts& split, std::int64_t row, std::int64_t col,
                                    float x) {
  constexpr int chunk = SplitParts::chunk;
  auto* const to = static_cast<bfloat16*>(split.to) +
                   row * SplitParts::parts_in_row(split.row_length) +
                   col / chunk * SplitParts::parts * chunk + col % chunk;
  float rest = x;
  RUNG_UNROLL
  for (int part = 0; part < SplitParts::parts; ++part) {
    const float high = high_part(rest);
    to[part * chunk] = bfloat16(high);
    rest -= high;
  }
  const float size = __builtin_fabsf(x);
  return x == 0 || (size >= 0x1p-102f && size < __builtin_inff());
}

__device__ __forceinline__ OperandScale scale_of(bool is_exact) {
  return {0, is_exact ? 0.0f : 1.0f, 0.0f, 0.0f};
}

/// Each block splits whole rows.
__device__ __forceinline__ void split_by_row(const SplitParts& split) {
  __shared__ bool exact[warps];
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t row = blockIdx.x; row < split.rows; row += gridDim.x) {
    const float* const from = split.from + row * split.from_ld;
    const std::int64_t end = round_up(split.row_length, std::int64_t{SplitParts::chunk});
    bool is_exact = true;
    for (std::int64_t i = thread; i < end; i += SplitParts::threads) {
      is_exact &= put(split, row, i, i < split.row_length ? from[i] : 0.0f);
    }
    const bool of_warp = ptx::vote_ballot(!is_exact) == 0;
    // sync: the first thread has read the warps' findings for the previous row
    __syncthreads();
    if (thread % lanes == 0) exact[thread / lanes] = of_warp;
    // sync: all warps have stored their findings
    __syncthreads();
    if (thread != 0) continue;
    RUNG_UNROLL
    for (int w = 0; w < warps; ++w) is_exact &= exact[w];
    split.scales[row] = scale_of(is_exact);
  }
}

/// Each block splits 32 columns, one per lane; its warps share the rows. A thread has eight loads
/// in flight, because a small operand occupies few blocks.
__device__ __forceinline__ void split_by_column(const SplitParts& split) {
  constexpr int at_once = 8;
  __shared__ bool exact[warps][lanes];
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t end = round_up(split.row_length, std::int64_t{SplitParts::chunk});
  for (std::int64_t first = std::int64_t{blockIdx.x} * lanes; first < end;
       first += std::int64_t{gridDim.x} * lanes) {
    const std::int64_t col = first + lane;
    const bool exists = col < split.row_length;
    bool is_exact = true;
    for (std::int64_t begin = warp; begin < split.rows; begin += at_once * warps) {
      float x[at_once];
      RUNG_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::int64_t row = begin + i * warps;
        x[i] = exists && row < split.rows ? split.from[row * split.from_ld + col] : 0.0f;
      }
      RUNG_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::int64_t row = begin + i * warps;
        if (row < split.rows) is_exact &= put(split, row, col, x[i]);
      }
    }
    // sync: the first warp has read the others' findings for the previous columns
    __syncthreads();
    exact[warp][lane] = is_exact;
    // sync: all warps have stored their findings
    __syncthreads();
    if (warp != 0 || !exists) continue;
    RUNG_UNROLL
    for (int w = 0; w < warps; ++w) is_exact &= exact[w][lane];
    split.scales[col] = scale_of(is_exact);
  }
}

}  // namespace rung::cuda

extern "C" __global__ void __launch_bounds__(rung::cuda::SplitParts::threads)
    gemm_cuda_library_mixed_operand_f32(rung::cuda::SplitParts split) {
  if (split.is_k_major) {
    rung::cuda::split_by_row(split);
  } else {
    rung::cuda::split_by_column(split);
  }
}

extern "C" __global__ void __launch_bounds__(rung::cuda::Widen::threads)
    gemm_cuda_library_mixed_operand_bf16(rung::cuda::Widen widen) {
  using rung::cuda::Widen;
  const std::int64_t chunks = (widen.row_length + Widen::chunk - 1) / Widen::chunk;
  for (std::int64_t piece = blockIdx.x; piece < widen.rows * chunks; piece += gridDim.x) {
    const std::int64_t row = piece / chunks;
    const auto* const from = static_cast<const rung::bfloat16*>(widen.from) + row * widen.from_ld;
    float* const to = widen.to + row * widen.to_ld;
    const std::int64_t begin = (piece - row * chunks) * Widen::chunk + threadIdx.x;
    RUNG_UNROLL
    for (int i = 0; i < Widen::chunk; i += Widen::threads) {
      if (begin + i < widen.row_length) to[begin + i] = static_cast<float>(from[begin + i]);
    }
  }
}

#endif
