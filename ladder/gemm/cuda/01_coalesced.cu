// gemm/cuda/01_coalesced: the threads of a warp run along a row of C, so that loads of B and stores
//   of C are coalesced.
// from: 00_naive | removes: warp loads of A that touch 32 sectors, one per row | bottleneck: every
//   FMA loads A and B from global memory again
// needs: nothing | try: rung trace gemm/cuda/01

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"

namespace rung {
namespace {

struct Coalesced {
  static constexpr int BM = 32;
  static constexpr int BN = 32;
  static constexpr cuda::Dim3 block = {BN, BM};

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const std::int64_t row = tile.row + threadIdx.y;
    const std::int64_t col = tile.col + threadIdx.x;
    if (row >= g.m || col >= g.n) return;

    // multiply
    Out sum{};
    for (std::int64_t k = 0; k < g.k; ++k) {
      sum += static_cast<Out>(g.a(row, k)) * static_cast<Out>(g.b(k, col));
    }

    // store
    Out& c = g.c(row, col);
    c = cuda::Epilogue<Out>(g).replace(sum, c);
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(01_coalesced, Coalesced, f32, f64, i32, bf16, f16)

}  // namespace rung
