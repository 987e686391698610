// dot/cuda/02_atomic: blocks add their sums to the result with atomic additions: all work happens
//   on the GPU.
// from: 01_block_sums | removes: the CPU, and the wait for it | bottleneck: of a block's 256
//   threads, 255 wait while one adds
// needs: nothing | try: rung trace dot/cuda/02

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/ptx/sums.cuh"

namespace rung {
namespace {

struct Atomic {
  static constexpr int THREADS = 256;

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    __shared__ Out terms[THREADS];

    // load
    const std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
    terms[threadIdx.x] = i < d.n ? Terms::template at<Out>(d, i) : Out{};
    __syncthreads();

    // reduce
    if (threadIdx.x != 0) return;
    Out sum{};
    for (int t = 0; t < THREADS; ++t) sum += terms[t];

    // store
    ptx::red_add(static_cast<Out*>(to.result), sum);
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int /*multiprocessors*/) {
    const std::int64_t blocks = cuda::ceil_div(d.n, THREADS);
    return {{.grid = {blocks}, .block = {THREADS}}, cuda::Finish::zeroed};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(02_atomic, Atomic, f32, f64, i32, bf16, f16)

}  // namespace rung
