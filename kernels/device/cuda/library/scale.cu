// C = beta * C, for calls whose alpha or k is 0: the library promises not to read A and B in them.
// C is not read if beta is 0. The kernel is offered like a rung, but is not on the ladder.

#include "device/cuda/entry/gemm.cuh"

namespace rung {
namespace {

struct Scale {
  static constexpr int BM = 32;
  static constexpr int BN = 32;
  static constexpr int rows_at_once = 8;
  static constexpr cuda::Dim3 block = {BN, rows_at_once};

  template <class In, class Out>
  static __device__ void kernel(const Gemm<In, Out>& g) {
    using Factor = Scalar<Out>;
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const std::int64_t col = tile.col + threadIdx.x;
    if (col >= g.n) return;
    for (std::int64_t row = tile.row + threadIdx.y; row < g.m && row < tile.row + BM;
         row += rows_at_once) {
      Out& c = g.c(row, col);
      c = g.beta == Factor{} ? Out{} : static_cast<Out>(g.beta * static_cast<Factor>(c));
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

// For each type of results, named as if A and B had it.
RUNG_CUDA_GEMM(library, scale, Scale, f32, f64, i32, bf16_bf16, f16_f16)

}  // namespace rung
