// gemm/cuda/02_shared_tile: a block loads a tile of A and a tile of B into shared memory, and all
//   its threads read both from there.
// from: 01_coalesced | removes: two global loads per FMA: each load now serves 32 FMAs
//   | bottleneck: two shared loads per FMA
// needs: nothing | try: rung trace gemm/cuda/02

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"

namespace rung {
namespace {

struct SharedTile {
  static constexpr int BM = 32;
  static constexpr int BN = 32;
  static constexpr int BK = 32;
  static constexpr cuda::Dim3 block = {BN, BM};
  static_assert(BK == BM && BK == BN, "each thread loads one element of either tile");

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    __shared__ In As[BM][BK];
    __shared__ In Bs[BK][BN];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const unsigned thread_row = threadIdx.y;
    const unsigned thread_col = threadIdx.x;
    const std::int64_t row = tile.row + thread_row;
    const std::int64_t col = tile.col + thread_col;

    Out sum{};
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // load: zeros out of bounds, which leave the sums unchanged
      const std::int64_t a_col = k0 + thread_col;
      const std::int64_t b_row = k0 + thread_row;
      As[thread_row][thread_col] = row < g.m && a_col < g.k ? g.a(row, a_col) : In{};
      Bs[thread_row][thread_col] = b_row < g.k && col < g.n ? g.b(b_row, col) : In{};

      // sync: the tiles are complete
      __syncthreads();

      // multiply
      for (int k = 0; k < BK; ++k) {
        sum += static_cast<Out>(As[thread_row][k]) * static_cast<Out>(Bs[k][thread_col]);
      }

      // sync: all reads of the tiles are done
      __syncthreads();
    }

    // store
    if (row >= g.m || col >= g.n) return;
    Out& c = g.c(row, col);
    c = cuda::Epilogue<Out>(g).replace(sum, c);
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(02_shared_tile, SharedTile, f32, f64, i32, bf16, f16)

}  // namespace rung
