// Packs an operand for TMA: makes a copy whose rows begin at multiples of 16 bytes, K-major if
// wgmma requires that. Registered like a rung, but not on the ladder.

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/library/pack_operand.hpp"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_pack_operand = {
    .entry = "gemm_cuda_library_pack_operand", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

template <class Word>
__device__ __forceinline__ const Word* product_of(const PackOperand& copy, std::int64_t product) {
  return static_cast<const Word*>(copy.from) + product * copy.from_product_stride;
}

/// Each block copies whole rows, several short ones at a time. A thread writes 16 bytes at a time,
/// padding the end of a row with zeros.
template <class Word>
__device__ __forceinline__ void copy_rows(const PackOperand& copy) {
  constexpr int W = 16 / sizeof(Word);
  auto* const to = static_cast<Vector<Word, W>*>(copy.to);
  const std::int64_t vectors = copy.to_ld / W;
  constexpr int THREADS = PackOperand::threads;
  const int of_row = vectors < THREADS ? static_cast<int>(vectors) : THREADS;  // threads per row
  const int rows = THREADS / of_row;
  const int my_row = static_cast<int>(threadIdx.x) / of_row;
  const int my_vector = static_cast<int>(threadIdx.x) % of_row;
  if (my_row >= rows) return;
  for (std::int64_t row = std::int64_t{blockIdx.x} * rows + my_row; row < copy.products * copy.rows;
       row += std::int64_t{gridDim.x} * rows) {
    const Word* const from =
        product_of<Word>(copy, row / copy.rows) + row % copy.rows * copy.from_ld;
    for (std::int64_t v = my_vector; v < vectors; v += of_row) {
      Vector<Word, W> words = {};
      RUNG_UNROLL
      for (int i = 0; i < W; ++i) {
        const std::int64_t at = v * W + i;
        if (at < copy.row_length) words.at[i] = from[at];
      }
      to[row * vectors + v] = words;
    }
  }
}

/// Each block transposes tiles through shared memory, so that reads and writes are contiguous. A
/// thread keeps 16 loads in flight: full memory bandwidth needs about 30 KB in flight per SM. The
/// padded pitch places the columns of a warp in different banks.
template <class Word>
__device__ __forceinline__ void transpose(const PackOperand& copy) {
  constexpr int TILE = PackOperand::tile;
  constexpr int W = 16 / sizeof(Word);
  constexpr int IN_ROW = TILE / W;               // vectors per row
  constexpr int LINE = IN_ROW < 8 ? IN_ROW : 8;  // vectors that adjacent lanes write
  static_assert(TILE * LINE % PackOperand::threads == 0 && IN_ROW % LINE == 0);
  __shared__ Word tile[TILE][TILE + (sizeof(Word) == 1 ? 2 : 1)];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t tiles_in_row = (copy.row_length + TILE - 1) / TILE;
  const std::int64_t tiles = (copy.rows + TILE - 1) / TILE * tiles_in_row;
  for (std::int64_t number = blockIdx.x; number < copy.products * tiles; number += gridDim.x) {
    const std::int64_t product = number / tiles;
    const std::int64_t in_product = number % tiles;
    const std::int64_t first_row = in_product / tiles_in_row * TILE;
    const std::int64_t first_at = in_product % tiles_in_row * TILE;
    const Word* const from = product_of<Word>(copy, product);
    auto* const to =
        static_cast<Vector<Word, W>*>(copy.to) + product * copy.rows * (copy.to_ld / W);

    // sync: all threads have read the previous tile
    __syncthreads();
    const std::int64_t row = first_row + thread % TILE;
    RUNG_UNROLL
    for (int i = thread / TILE; i < TILE; i += PackOperand::threads / TILE) {
      const std::int64_t at = first_at + i;
      const bool exists = at < copy.row_length && row < copy.rows;
      tile[i][thread % TILE] = exists ? from[at * copy.from_ld + row] : Word{0};
    }
    __syncthreads();

    RUNG_UNROLL
    for (int part = 0; part < TILE * IN_ROW; part += PackOperand::threads) {
      const int vector = part / (TILE * LINE) * LINE + thread % LINE;
      const int to_row = part / LINE % TILE + thread / LINE;
      const std::int64_t at = first_at / W + vector;
      if (first_row + to_row >= copy.rows || at * W >= copy.to_ld) continue;
      Vector<Word, W> words;
      RUNG_UNROLL
      for (int i = 0; i < W; ++i) words.at[i] = tile[vector * W + i][to_row];
      to[(first_row + to_row) * (copy.to_ld / W) + at] = words;
    }
  }
}

template <class Word>
__device__ __forceinline__ void copy_or_transpose(const PackOperand& copy) {
  if (copy.from_transposed) {
    transpose<Word>(copy);
  } else {
    copy_rows<Word>(copy);
  }
}

}  // namespace rung::cuda

// One entry for each word size, named after a type of that size.
extern "C" __global__ void __launch_bounds__(rung::cuda::PackOperand::threads)
    gemm_cuda_library_pack_operand_i8(rung::cuda::PackOperand copy) {
  rung::cuda::copy_or_transpose<std::uint8_t>(copy);
}
extern "C" __global__ void __launch_bounds__(rung::cuda::PackOperand::threads)
    gemm_cuda_library_pack_operand_bf16(rung::cuda::PackOperand copy) {
  rung::cuda::copy_or_transpose<std::uint16_t>(copy);
}
extern "C" __global__ void __launch_bounds__(rung::cuda::PackOperand::threads)
    gemm_cuda_library_pack_operand_tf32(rung::cuda::PackOperand copy) {
  rung::cuda::copy_or_transpose<std::uint32_t>(copy);
}
extern "C" __global__ void __launch_bounds__(rung::cuda::PackOperand::threads)
    gemm_cuda_library_pack_operand_f64(rung::cuda::PackOperand copy) {
  rung::cuda::copy_rows<std::uint64_t>(copy);
}

#endif
