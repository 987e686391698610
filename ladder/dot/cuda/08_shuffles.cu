// dot/cuda/08_shuffles: warp shuffles: the threads of a warp reduce from register to register, then
//   one warp reduces the warp sums.
// from: 07_coarsened | removes: shared memory and barriers from all steps of the tree but one
//   | bottleneck: 4-byte loads, and short-lived blocks of 16 loads per thread
// needs: nothing | try: rung trace dot/cuda/08

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/ptx/sums.cuh"

namespace rung {
namespace {

struct Shuffles {
  static constexpr int THREADS = 256;
  static constexpr int COARSE = 16;  // terms per thread
  static constexpr int TERMS = COARSE * THREADS;
  static constexpr int LANES = 32;
  static constexpr int WARPS = THREADS / LANES;

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    __shared__ Out sums[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % LANES;
    const int warp = static_cast<int>(threadIdx.x) / LANES;

    // load
    const std::int64_t first = std::int64_t{blockIdx.x} * TERMS + threadIdx.x;
    Out sum{};
    RUNG_UNROLL
    for (int t = 0; t < TERMS; t += THREADS) {
      if (first + t < d.n) sum += Terms::template at<Out>(d, first + t);
    }

    // reduce: within each warp, then the warp sums in the first warp
    RUNG_UNROLL
    for (int by = LANES / 2; by > 0; by /= 2) sum += ptx::shfl_down(sum, by);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp != 0) return;
    sum = lane < WARPS ? sums[lane] : Out{};
    RUNG_UNROLL
    for (int by = WARPS / 2; by > 0; by /= 2) sum += ptx::shfl_down(sum, by);

    // store
    if (lane == 0) ptx::red_add(static_cast<Out*>(to.result), sum);
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int /*multiprocessors*/) {
    return {{.grid = {cuda::ceil_div(d.n, TERMS)}, .block = {THREADS}}, cuda::Finish::zeroed};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(08_shuffles, Shuffles, f32, f64, i32, bf16, f16)

}  // namespace rung
