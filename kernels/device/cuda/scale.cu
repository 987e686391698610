// C = beta * C, for what the library promises beyond the rungs: with alpha == 0 or k == 0, A and B
// are not read. Offered as a rung is, and none of the ladder. With beta == 0, C is not read.

#include "device/cuda/rung.cuh"

namespace rung {
namespace {

struct Scale {
  static constexpr int BM = 32;
  static constexpr int BN = 32;
  static constexpr int rows_at_once = 8;
  static constexpr cuda::Dim3 block = {BN, rows_at_once};

  template <class In, class Out>
  static __device__ void kernel(const Gemm<In, Out>& g) {
    const cuda::Tile tile = cuda::tile_of_block<BM, BN>(g);
    const std::int64_t col = tile.col + threadIdx.x;
    if (col >= g.n) return;
    for (std::int64_t row = tile.row + threadIdx.y; row < g.m && row < tile.row + BM;
         row += rows_at_once) {
      Out& c = g.c(row, col);
      c = g.beta == Out{} ? Out{} : g.beta * c;
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(library, scale, Scale)

}  // namespace rung
