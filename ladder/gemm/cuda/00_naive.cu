// gemm/cuda/00_naive: one thread computes one element of C, and the threads of a warp run down a
//   column.
// from: nothing | removes: nothing | bottleneck: each warp load of A touches 32 sectors, one per
//   row, and uses one element of each
// needs: nothing | try: rung trace gemm/cuda/00

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"

namespace rung {
namespace {

struct Naive {
  static constexpr int BM = 32;
  static constexpr int BN = 32;
  static constexpr cuda::Dim3 block = {BM, BN};

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const std::int64_t row = tile.row + threadIdx.x;
    const std::int64_t col = tile.col + threadIdx.y;
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

RUNG_CUDA_GEMM(00_naive, Naive, f32, f64, i32, bf16, f16)

}  // namespace rung
