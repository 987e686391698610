// dot/cuda/05_contiguous: each thread adds the term half of the remaining range away, so that the
//   active threads are neighbours, as are their terms.
// from: 04_shared_tree | removes: divergence within warps, and bank conflicts | bottleneck: one
//   launch for each factor of 512 terms
// needs: nothing | try: rung trace dot/cuda/05

#include "device/cuda/entry/dot.cuh"

namespace rung {
namespace {

struct Contiguous {
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
    if (thread == 0) static_cast<Out*>(to.result)[blockIdx.x] = sums[0];
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int /*multiprocessors*/) {
    const std::int64_t blocks = d.n > 0 ? cuda::ceil_div(d.n, TERMS) : 1;
    return {{.grid = {blocks}, .block = {THREADS}}, cuda::Finish::passes, blocks};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(05_contiguous, Contiguous, f32, f64, i32, bf16, f16)

}  // namespace rung
