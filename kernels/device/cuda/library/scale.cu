// Computes C = beta * C for calls with alpha or k of 0, in which the library promises not to read A
// and B. C is not read if beta is 0. Registered like a rung, but not on the ladder. A separate
// kernel checks the offsets of groups without products.

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/library/check_offsets.hpp"
#include "device/cuda/ptx/warp.cuh"

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
RUNG_CUDA_GEMM(library_scale, Scale, f32, f64, i32, bf16_bf16, f16_f16)

}  // namespace rung

#ifndef RUNG_HOST

// Named after a type for which there is no scale kernel.
extern "C" __global__ void __launch_bounds__(rung::cuda::CheckOffsets::threads)
    gemm_cuda_library_scale_i8(rung::cuda::CheckOffsets check) {
  bool is_wrong = false;
  for (std::int64_t i = threadIdx.x; i < check.groups; i += rung::cuda::CheckOffsets::threads) {
    const int begin = check.offsets[i], end = check.offsets[i + 1];
    is_wrong = is_wrong || begin < 0 || end < begin || end > check.extent;
  }
  const bool any_is_wrong = rung::ptx::vote_ballot(is_wrong) != 0;
  if (any_is_wrong && threadIdx.x == 0) *check.status = 1;
}

#endif
