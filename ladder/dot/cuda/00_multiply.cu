// dot/cuda/00_multiply: the GPU multiplies, one product per thread, and the CPU adds up the
//   products in parallel.
// from: nothing | removes: nothing | bottleneck: every product goes to memory, then to the CPU over
//   a bus that is far slower than the memory of either
// needs: nothing | try: rung trace dot/cuda/00

#include "device/cuda/entry/dot.cuh"

namespace rung {
namespace {

struct Multiply {
  static constexpr int THREADS = 256;

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    const std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i < d.n) static_cast<Out*>(to.result)[i] = Terms::template at<Out>(d, i);
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int /*multiprocessors*/) {
    return {{.grid = {cuda::ceil_div(d.n, THREADS)}, .block = {THREADS}}, cuda::Finish::host, d.n};
  }
};

}  // namespace

RUNG_CUDA_DOT(00_multiply, Multiply, f32, f64, i32, bf16, f16)

}  // namespace rung
