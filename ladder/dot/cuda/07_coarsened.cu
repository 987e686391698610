// dot/cuda/07_coarsened: thread coarsening: each thread first adds up 16 terms by itself, then the
//   block reduces its threads' sums.
// from: 06_hierarchical | removes: seven of eight trees with their barriers and idle threads, and
//   seven of eight atomic additions | bottleneck: a barrier for each step of the tree
// needs: nothing | try: rung trace dot/cuda/07

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/ptx/sums.cuh"

namespace rung {
namespace {

struct Coarsened {
  static constexpr int THREADS = 256;
  static constexpr int COARSE = 16;  // terms per thread
  static constexpr int TERMS = COARSE * THREADS;

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    __shared__ Out sums[THREADS];
    const int thread = static_cast<int>(threadIdx.x);

    // load: coalesced
    const std::int64_t first = std::int64_t{blockIdx.x} * TERMS + thread;
    Out sum{};
    RUNG_UNROLL
    for (int t = 0; t < TERMS; t += THREADS) {
      if (first + t < d.n) sum += Terms::template at<Out>(d, first + t);
    }
    sums[thread] = sum;

    // reduce
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
      __syncthreads();
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

RUNG_CUDA_DOT_AND_SUM(07_coarsened, Coarsened, f32, f64, i32, bf16, f16)

}  // namespace rung
