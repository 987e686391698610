// dot/cuda/13_bulk_copies: bulk asynchronous copies: one thread loads the vectors into shared
//   memory, 16 KiB per instruction, with six copies of each vector in flight.
// from: 10_one_launch | removes: the registers and instructions of loads in flight
//   | bottleneck: memory bandwidth; short vectors wait for a copy, a barrier and shared memory
// needs: sm_90 | try: rung trace dot/cuda/13

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/reduce/block_sum.cuh"

namespace rung {
namespace {

struct BulkCopies {
  static constexpr int THREADS = 512;
  static constexpr int STAGES = 6;
  static constexpr int PIECE_BYTES = 16 << 10;

  template <class In>
  struct Shared {
    static constexpr int PIECE = PIECE_BYTES / sizeof(In);
    alignas(128) In x[STAGES][PIECE];
    alignas(128) In y[STAGES][PIECE];
    std::uint64_t arrived[STAGES];
  };

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    const Out sum =
        cuda::block_sum<THREADS>(Terms::have_vectors(d) ? sum_of_pieces<Terms, In, Out>(d)
                                                        : sum_of_terms<Terms, In, Out>(d));
    auto* const result = static_cast<Out*>(to.result);
    if (gridDim.x == 1) {
      if (threadIdx.x == 0) *result = sum;
      return;
    }

    // the last block: all block sums are available
    if (!cuda::is_last_to_store(to.workspace, sum)) return;
    const Out* const sums = cuda::block_values<Out>(to.workspace);
    Out total{};
    for (unsigned block = threadIdx.x; block < gridDim.x; block += THREADS) total += sums[block];
    total = cuda::block_sum<THREADS>(total);
    if (threadIdx.x == 0) *result = total;
  }

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ Out sum_of_pieces(const Dot<In>& d) {
    constexpr int W = cuda::vector_width<In>;
    constexpr int PIECE = Shared<In>::PIECE;
    auto& [x, y, arrived] = cuda::dynamic_shared<Shared<In>>();
    const std::int64_t in_vectors = d.n / W * W;
    const std::int64_t pieces = cuda::ceil_div(in_vectors, PIECE);
    const auto length = [&](std::int64_t piece) {
      const std::int64_t left = in_vectors - piece * PIECE;
      return static_cast<int>(left < PIECE ? left : PIECE);
    };

    // load: thread 0 issues the next piece, if there is one
    const auto send_for = [&](std::int64_t piece, int stage) {
      if (threadIdx.x != 0 || piece >= pieces) return;
      const int bytes = length(piece) * static_cast<int>(sizeof(In));
      const std::uint32_t barrier = ptx::cvta_to_shared(&arrived[stage]);
      ptx::mbarrier_arrive_expect_tx(barrier, d.y == nullptr ? bytes : 2 * bytes);
      ptx::cp_async_bulk(ptx::cvta_to_shared(x[stage]), d.x + piece * PIECE, bytes, barrier);
      if (d.y == nullptr) return;
      ptx::cp_async_bulk(ptx::cvta_to_shared(y[stage]), d.y + piece * PIECE, bytes, barrier);
    };
    if (threadIdx.x == 0) {
      for (auto& barrier : arrived) ptx::mbarrier_init(ptx::cvta_to_shared(&barrier), 1);
      ptx::fence_mbarrier_init();
    }
    __syncthreads();
    const std::int64_t blocks = gridDim.x;
    for (int stage = 0; stage < STAGES; ++stage) send_for(blockIdx.x + stage * blocks, stage);

    Out sum{};
    int stage = 0;
    std::uint32_t parity = 0;
    for (std::int64_t piece = blockIdx.x; piece < pieces; piece += blocks) {
      // sync: wait for the piece
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&arrived[stage]), parity);

      // multiply
      const Dot<In> here{length(piece), x[stage], 1, y[stage], 1};
      for (int v = static_cast<int>(threadIdx.x); v < here.n / W; v += THREADS) {
        const typename Terms::template Piece<In, W> terms(here, v);
        RUNG_UNROLL
        for (int w = 0; w < W; ++w) sum += terms.template term<Out>(w);
      }

      // sync: all reads of the piece are done; its buffer is free
      __syncthreads();
      send_for(piece + STAGES * blocks, stage);
      stage = stage == STAGES - 1 ? 0 : stage + 1;
      if (stage == 0) parity ^= 1;
    }
    const std::int64_t rest = in_vectors + blockIdx.x * THREADS + threadIdx.x;
    if (rest < d.n) sum += Terms::template at<Out>(d, rest);
    return sum;
  }

  // For vectors that bulk copies do not support: loads single elements.
  template <class Terms, class In, class Out>
  static __device__ __forceinline__ Out sum_of_terms(const Dot<In>& d) {
    const std::int64_t threads = std::int64_t{gridDim.x} * THREADS;
    Out sum{};
    for (std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x; i < d.n; i += threads) {
      sum += Terms::template at<Out>(d, i);
    }
    return sum;
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int multiprocessors) {
    const std::int64_t pieces = cuda::ceil_div(d.n, Shared<In>::PIECE);
    const std::int64_t blocks = pieces < 1                 ? 1
                                : pieces < multiprocessors ? pieces
                                                           : multiprocessors;
    return {{.grid = {blocks},
             .block = {THREADS},
             .shared_bytes = sizeof(Shared<In>),
             .workspace_bytes = blocks > 1 ? cuda::block_values_bytes<Out>(blocks) : 0}};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(13_bulk_copies, BulkCopies, f32, f64, i32, bf16, f16)

}  // namespace rung
