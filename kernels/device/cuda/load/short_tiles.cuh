#pragma once
// Tiles of a matrix with fewer rows or columns than a tile. For TMA, rows outside a matrix take at
// least as long as others, so boxes include only existing rows. wgmma multiplies the rest of the
// tile as well, for results that are discarded; it is set to zero.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/epilogue/staged_c.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// The number of rows or columns of a tile that TMA loads if the matrix has `extent`: all or, for a
/// tile of 64, the existing ones, rounded up to a multiple of 8.
template <int EXTENT>
constexpr int loaded_extent(std::int64_t extent) {
  return EXTENT != 64 || extent > EXTENT - 8 ? EXTENT : static_cast<int>(extent + 7) / 8 * 8;
}

/// tensor_map_of() an operand for tiles with `loaded` loaded rows or columns.
template <class In>
constexpr TensorMapSpec short_map_of(const Matrix<const In>& x, std::int64_t extent, std::int64_t k,
                                     int loaded) {
  TensorMapSpec spec = tensor_map_of(x, extent, k, loaded);
  const bool is_mn_major = x.col_stride != 1 && !requires_k_major<In>;
  if (is_mn_major && loaded < spec.box_row_length) spec.box_row_length = loaded;
  return spec;
}

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
template <int THREADS, class In, int STAGES, int COUNT>
void clear_rest(In (&tiles)[STAGES][COUNT], int loaded, bool k_major, int thread);

#else

/// Zeros the part of 64-row (or 64-column) tiles that is not loaded, by THREADS threads. Tensor
/// cores see the zeros after a fence.proxy.async and a barrier.
template <int THREADS, class In, int STAGES, int COUNT>
__device__ __forceinline__ void clear_rest(In (&tiles)[STAGES][COUNT], int loaded, bool k_major,
                                           int thread) {
  static_assert(COUNT * sizeof(In) == 64 * 128 && THREADS % 64 == 0);
  using Chunk = Vector<std::uint32_t, 4>;
  const int line = thread % 64;
  RUNG_NO_UNROLL
  for (int eight = loaded / 8 + thread / 64; eight < 8; eight += THREADS / 64) {
    // Eight rows are eight lines or, in an MN-major tile, one (swizzled) chunk of each line.
    const int chunk = k_major ? eight * 64 + line : line * 8 + (eight ^ line % 8);
    RUNG_UNROLL
    for (int stage = 0; stage < STAGES; ++stage) {
      reinterpret_cast<Chunk*>(tiles[stage])[chunk] = {};
    }
  }
}

#endif

/// The rows of A and columns of B that a block loads for tiles of BM x BN. Loads all of them in
/// clusters, all rows of A if boxes of C pass through A's stages, and everything for up to four
/// k-blocks, where zeroing costs more than it saves.
template <int BM, int BN, int CLUSTER>
struct ShortTiles {
  template <class In, class Out>
  static constexpr bool is_deep(const Gemm<In, Out>& g) {
    return CLUSTER == 1 && g.k > 4 * (128 / static_cast<int>(sizeof(In)));
  }
  template <class In, class Out>
  static constexpr int rows(const Gemm<In, Out>& g) {
    const bool reads_c = g.beta != Scalar<Out>{} && has_boxes_of_c(g);
    return is_deep(g) && !reads_c ? loaded_extent<BM>(g.m) : BM;
  }
  template <class In, class Out>
  static constexpr int cols(const Gemm<In, Out>& g) {
    return is_deep(g) ? loaded_extent<BN>(g.n) : BN;
  }

  /// Zeros the rest of all stages while the first stages arrive. Called by the READERS threads
  /// after the first warpgroup; they synchronize at `barrier`.
  template <int READERS, class In, class Out, int STAGES, int A_COUNT, int B_COUNT>
  static __device__ __forceinline__ void clear(const Gemm<In, Out>& g, In (&As)[STAGES][A_COUNT],
                                               In (&Bs)[STAGES][B_COUNT], int barrier) {
    if constexpr (CLUSTER == 1 && (BM == 64 || BN == 64)) {
      const int thread = static_cast<int>(threadIdx.x) - 128;
      if (rows(g) == BM && cols(g) == BN) return;
      if constexpr (BM == 64) {
        clear_rest<READERS>(As, rows(g), operand_a(g).is_k_major(), thread);
      }
      if constexpr (BN == 64) {
        clear_rest<READERS>(Bs, cols(g), operand_b(g).is_k_major(), thread);
      }
      // sync: wgmma sees the zeros of all threads
      ptx::fence_proxy_async();
      ptx::bar_sync(barrier, READERS);
    }
  }
};

}  // namespace rung::cuda
