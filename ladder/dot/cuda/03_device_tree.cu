// dot/cuda/03_device_tree: all threads of a block add at once, neighbours first: a tree of nine
//   steps over 512 terms in device memory; each launch reduces the block sums of the previous one,
//   until one is left.
// from: 02_atomic | removes: a single thread that adds 256 terms one by one | bottleneck: the terms
//   go to device memory and back in each step
// needs: nothing | try: rung trace dot/cuda/03

#include "device/cuda/entry/dot.cuh"

namespace rung {
namespace {

struct DeviceTree {
  static constexpr int THREADS = 256;
  static constexpr int TERMS = 2 * THREADS;  // per block

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    Out* const sums = static_cast<Out*>(to.workspace) + std::int64_t{blockIdx.x} * TERMS;
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
    return {{.grid = {blocks},
             .block = {THREADS},
             .workspace_bytes = blocks * TERMS * static_cast<std::int64_t>(sizeof(Out))},
            cuda::Finish::passes,
            blocks};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(03_device_tree, DeviceTree, f32, f64, i32, bf16, f16)

}  // namespace rung
