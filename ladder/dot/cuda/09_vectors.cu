// dot/cuda/09_vectors: 16-byte loads, several of them in flight, in a grid-stride loop of as many
//   blocks as fit on the device.
// from: 08_shuffles | removes: 4-byte loads, and the start and end of thousands of blocks
//   | bottleneck: two launches, one of them to zero the result; the order of atomic additions, and
//   so the result's last bits, differ from run to run
// needs: nothing | try: rung trace dot/cuda/09

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/reduce/block_sum.cuh"

namespace rung {
namespace {

struct Vectors {
  static constexpr int THREADS = 512;
  static constexpr int MIN_BLOCKS_PER_SM = 2;

  // 16-byte loads of each vector in flight at once. 2-byte elements need twice the registers
  // once they are unpacked.
  template <class In>
  static constexpr int pieces_at_once() {
    return sizeof(In) < 4 ? 2 : 4;
  }

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    const Out sum = cuda::block_sum<THREADS>(
        Terms::have_vectors(d) ? thread_sum<cuda::vector_width<In>, Terms, In, Out>(d)
                               : thread_sum<1, Terms, In, Out>(d));
    // store
    if (threadIdx.x == 0) ptx::red_add(static_cast<Out*>(to.result), sum);
  }

  // The terms of this thread: a grid-stride loop over whole vectors, then the remainder.
  template <int W, class Terms, class In, class Out>
  static __device__ __forceinline__ Out thread_sum(const Dot<In>& d) {
    using Piece = typename Terms::template Piece<In, W>;
    constexpr int PIECES = pieces_at_once<In>();
    const std::int64_t thread = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
    const std::int64_t threads = std::int64_t{gridDim.x} * THREADS;
    const std::int64_t pieces = d.n / W;

    // load several, then multiply: the loads overlap
    Out sum{};
    Piece piece[PIECES];
    std::int64_t p = thread;
    for (; p + (PIECES - 1) * threads < pieces; p += PIECES * threads) {
      RUNG_UNROLL
      for (int i = 0; i < PIECES; ++i) piece[i] = Piece(d, p + i * threads);
      add(sum, piece);
    }
    RUNG_UNROLL
    for (int i = 0; i < PIECES; ++i) {
      const std::int64_t last = p + i * threads;
      piece[i] = last < pieces ? Piece(d, last) : Piece();
    }
    add(sum, piece);
    const std::int64_t rest = pieces * W + thread;
    if (rest < d.n) sum += Terms::template at<Out>(d, rest);
    return sum;
  }

  template <class Out, class Piece, int PIECES>
  static __device__ __forceinline__ void add(Out& sum, const Piece (&piece)[PIECES]) {
    RUNG_UNROLL
    for (int i = 0; i < PIECES; ++i) {
      RUNG_UNROLL
      for (int w = 0; w < Piece::width; ++w) sum += piece[i].template term<Out>(w);
    }
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int multiprocessors) {
    const std::int64_t blocks = cuda::ceil_div(d.n, THREADS * cuda::vector_width<In>);
    const std::int64_t most = std::int64_t{MIN_BLOCKS_PER_SM} * multiprocessors;
    return {{.grid = {blocks < most ? blocks : most}, .block = {THREADS}}, cuda::Finish::zeroed};
  }
};

}  // namespace

RUNG_CUDA_DOT_AND_SUM(09_vectors, Vectors, f32, f64, i32, bf16, f16)

}  // namespace rung
