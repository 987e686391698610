// dot/cuda/04_shared_tree: the same tree in shared memory.
// from: 03_device_tree | removes: device-memory traffic between the steps | bottleneck: divergence:
//   in each step, fewer threads of every warp are active, but the warp takes as long; bank
//   conflicts
// needs: nothing | try: rung trace dot/cuda/04

#include "device/cuda/entry/dot.cuh"

namespace rung {
namespace {

struct SharedTree {
  static constexpr int THREADS = 256;
  static constexpr int TERMS = 2 * THREADS;  // per block

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    __shared__ Out sums[TERMS];
    const int thread = static_cast<int>(threadIdx.x);

    // load
    const std::int64_t first = std::int64_t{blockIdx.x} * TERMS;
    for (int t = thread; t < TERMS; t += THREADS) {
      sums[t] = first + t < d.n ? Terms::template at<Out>(d, first + t) : Out{};
    }

    // reduce
    for (int stride = 1; stride <= THREADS; stride *= 2) {
      __syncthreads();
      if (thread % stride == 0) sums[2 * thread] += sums[2 * thread + stride];
    }

    // store
    if (thread == 0) static_cast<Out*>(to.result)[blockIdx.x] = sums[0];
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int /*multiprocessors*/) {
    const std::int64_t blocks = d.n > 0 ? cuda::ceil_div(d.n, TERMS) : 1;
    return {{.grid = {blocks}, .block = {THREADS}}, cuda::Finish::passes, blocks};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(04_shared_tree, SharedTree, f32, f64, i32, bf16, f16)

}  // namespace rung
