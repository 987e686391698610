// dot/cuda/01_block_sums: one thread of each block adds up the block's terms, and the CPU adds up
//   the block sums.
// from: 00_multiply | removes: the trip of every product through memory and bus: one value per 256
//   terms makes it now | bottleneck: of a block's 256 threads, 255 wait while one adds
// needs: nothing | try: rung trace dot/cuda/01

#include "device/cuda/entry/dot.cuh"

namespace rung {
namespace {

struct BlockSums {
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
    static_cast<Out*>(to.result)[blockIdx.x] = sum;
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int /*multiprocessors*/) {
    const std::int64_t blocks = cuda::ceil_div(d.n, THREADS);
    return {{.grid = {blocks}, .block = {THREADS}}, cuda::Finish::host, blocks};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(01_block_sums, BlockSums, f32, f64, i32, bf16, f16)

}  // namespace rung
