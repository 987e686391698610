// dot/cuda/06_hierarchical: each block adds its sum to the result with one atomic addition: any n
//   in one launch.
// from: 05_contiguous | removes: the launches that add up the block sums | bottleneck: half of the
//   threads are idle from the first step of the tree on, for two terms that each has loaded
// needs: nothing | try: rung trace dot/cuda/06

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/ptx/sums.cuh"

namespace rung {
namespace {

struct Hierarchical {
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
    for (int stride = THREADS; stride > 0; stride /= 2) {
      if (stride < THREADS) __syncthreads();  // the first two terms are this thread's own
      if (thread < stride) sums[thread] += sums[thread + stride];
    }

    // store
    if (thread == 0) ptx::red_add(static_cast<Out*>(to.result), sums[0]);
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int /*multiprocessors*/) {
    return {{.grid = {cuda::ceil_div(d.n, TERMS)}, .block = {THREADS}}, cuda::Finish::zeroed};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(06_hierarchical, Hierarchical, f32, f64, i32, bf16, f16)

}  // namespace rung
