// A copy of a matrix whose lines begin at multiples of 16 bytes, for rungs that use the tensor
// memory accelerator; transposed, where they need that. Offered as a rung is, and none of the
// ladder.

#include "device/cuda/repitch.hpp"
#include "device/cuda/rung.cuh"
#include "device/cuda/vector.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_repitch = {
    .entry = "gemm_cuda_library_repitch", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

/// A block copies whole lines; a thread writes 16 bytes at a time. What is beyond a line's end
/// becomes zero.
template <class Word>
__device__ __forceinline__ void copy_lines(const Repitch& copy) {
  constexpr int W = 16 / sizeof(Word);
  const auto* const from = static_cast<const Word*>(copy.from);
  auto* const to = static_cast<Vector<Word, W>*>(copy.to);
  const std::int64_t vectors = copy.to_ld / W;
  for (std::int64_t line = blockIdx.x; line < copy.lines; line += gridDim.x) {
    for (std::int64_t v = threadIdx.x; v < vectors; v += Repitch::threads) {
      Vector<Word, W> words = {};
      RUNG_UNROLL
      for (int i = 0; i < W; ++i) {
        const std::int64_t at = v * W + i;
        if (at < copy.length) words.at[i] = from[line * copy.from_ld + at];
      }
      to[line * vectors + v] = words;
    }
  }
}

/// A block transposes tiles by way of shared memory, so that both sides are read and written along
/// their lines. A pitch of TILE and a word keeps the banks of a warp's columns apart.
template <class Word>
__device__ __forceinline__ void transpose(const Repitch& copy) {
  constexpr int TILE = Repitch::tile(sizeof(Word));
  constexpr int W = 16 / sizeof(Word);
  constexpr int IN_LINE = TILE / W;  // vectors
  static_assert(TILE * IN_LINE == Repitch::threads);
  __shared__ Word tile[TILE][TILE + (sizeof(Word) == 1 ? 2 : 1)];
  const auto* const from = static_cast<const Word*>(copy.from);
  auto* const to = static_cast<Vector<Word, W>*>(copy.to);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t tiles_in_line = (copy.length + TILE - 1) / TILE;
  const std::int64_t tiles = (copy.lines + TILE - 1) / TILE * tiles_in_line;
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const std::int64_t first_line = number / tiles_in_line * TILE;
    const std::int64_t first_at = number % tiles_in_line * TILE;

    // sync: nobody reads the tile before any more
    __syncthreads();
    const std::int64_t line = first_line + thread % TILE;
    RUNG_UNROLL
    for (int i = thread / TILE; i < TILE; i += Repitch::threads / TILE) {
      const std::int64_t at = first_at + i;
      const bool exists = at < copy.length && line < copy.lines;
      tile[i][thread % TILE] = exists ? from[at * copy.from_ld + line] : Word{0};
    }
    __syncthreads();

    const int to_line = thread / IN_LINE;
    const int vector = thread % IN_LINE;
    const std::int64_t at = first_at / W + vector;
    if (first_line + to_line >= copy.lines || at * W >= copy.to_ld) continue;
    Vector<Word, W> words;
    RUNG_UNROLL
    for (int i = 0; i < W; ++i) words.at[i] = tile[vector * W + i][to_line];
    to[(first_line + to_line) * (copy.to_ld / W) + at] = words;
  }
}

template <class Word>
__device__ __forceinline__ void copy_or_transpose(const Repitch& copy) {
  if (copy.from_transposed) {
    transpose<Word>(copy);
  } else {
    copy_lines<Word>(copy);
  }
}

}  // namespace rung::cuda

// One for each size of elements, named after a type of it.
extern "C" __global__ void __launch_bounds__(rung::cuda::Repitch::threads)
    gemm_cuda_library_repitch_i8(rung::cuda::Repitch copy) {
  rung::cuda::copy_or_transpose<std::uint8_t>(copy);
}
extern "C" __global__ void __launch_bounds__(rung::cuda::Repitch::threads)
    gemm_cuda_library_repitch_bf16(rung::cuda::Repitch copy) {
  rung::cuda::copy_lines<std::uint16_t>(copy);
}
extern "C" __global__ void __launch_bounds__(rung::cuda::Repitch::threads)
    gemm_cuda_library_repitch_tf32(rung::cuda::Repitch copy) {
  rung::cuda::copy_or_transpose<std::uint32_t>(copy);
}

#endif
