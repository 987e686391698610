// In the place of a CUDA rung, one that launches half of its threads: the virtual GPU must see that
// the rest of its tiles is never written.

#include "device/cuda/entry/gemm_descriptor.hpp"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung {
namespace {

struct HalfABlock {
  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<32, 32>(g)}, .block = {32, 16}};
  }
};

}  // namespace

extern const cuda::GemmRung gemm_cuda_02_shared_tile =
    cuda::gemm_rung<HalfABlock, Dtype::f32, Dtype::f64, Dtype::i32, Dtype::bf16, Dtype::f16>(
        "gemm_cuda_02_shared_tile");

}  // namespace rung
