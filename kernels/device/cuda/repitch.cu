// A copy of a matrix of 16-bit elements whose lines begin at multiples of 16 bytes, for rungs that
// use the tensor memory accelerator. Offered as a rung is, and none of the ladder.

#include "device/cuda/repitch.hpp"
#include "device/cuda/rung.cuh"
#include "device/cuda/vector.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_repitch = {"gemm_cuda_library_repitch", {}, {}};

}  // namespace rung

#else

namespace rung::cuda {

/// A block copies whole lines; a thread writes 16 bytes at a time. What is beyond a line's end
/// becomes zero.
__device__ __forceinline__ void repitch(const Repitch& copy) {
  constexpr int W = 8;
  using Words = Vector<std::uint32_t, W / 2>;
  const auto* const from = static_cast<const std::uint16_t*>(copy.from);
  auto* const to = static_cast<Words*>(copy.to);
  const std::int64_t vectors = copy.to_ld / W;
  for (std::int64_t line = blockIdx.x; line < copy.lines; line += gridDim.x) {
    for (std::int64_t v = threadIdx.x; v < vectors; v += Repitch::threads) {
      Words words = {};
      RUNG_UNROLL
      for (int i = 0; i < W; ++i) {
        const std::int64_t at = v * W + i;
        const std::uint32_t bits = at < copy.length ? from[line * copy.from_ld + at] : 0;
        words.at[i / 2] |= bits << i % 2 * 16;
      }
      to[line * vectors + v] = words;
    }
  }
}

}  // namespace rung::cuda

extern "C" __global__ void __launch_bounds__(rung::cuda::Repitch::threads)
    gemm_cuda_library_repitch_bf16(rung::cuda::Repitch copy) {
  rung::cuda::repitch(copy);
}
extern "C" __global__ void __launch_bounds__(rung::cuda::Repitch::threads)
    gemm_cuda_library_repitch_f16(rung::cuda::Repitch copy) {
  rung::cuda::repitch(copy);
}

#endif
