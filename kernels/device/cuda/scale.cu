// C = beta * C, for what the library promises beyond the rungs: with alpha == 0 or k == 0, A and B
// are not read. Offered as a rung is, and none of the ladder. With beta == 0, C is not read.

#include "device/cuda/rung.cuh"

#ifdef RUNG_HOST

#define RUNG_SCALE(Rung)                                \
  extern const cuda::GemmRung gemm_cuda_library_scale = \
      cuda::gemm_rung_of_results<Rung>("gemm_cuda_library_scale");

#else

// One for each type of results, named as if the operands had it.
#define RUNG_SCALE(Rung)                                                                \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_library_scale_f32, Rung, float, float)                 \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_library_scale_f64, Rung, double, double)               \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_library_scale_i32, Rung, std::uint32_t, std::uint32_t) \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_library_scale_bf16_bf16, Rung, bfloat16, bfloat16)     \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_library_scale_f16_f16, Rung, float16, float16)

#endif

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
    const cuda::Tile tile = cuda::tile_of_block<BM, BN>(g);
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

RUNG_SCALE(Scale)

}  // namespace rung
