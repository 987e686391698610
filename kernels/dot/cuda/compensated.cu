// dot/cuda/compensated: sum the rounding errors of all products and additions as well, and add them
//   at the end: the result is as accurate as if computed in twice the precision.
// from: 10_one_launch | removes: an error that grows with n and with cancellation | bottleneck:
//   still memory bandwidth: it hides ten operations per term
// needs: nothing | try: rung verify dot/cuda/compensated

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/ptx/exact.cuh"
#include "device/cuda/reduce/block_sum.cuh"

namespace rung {
namespace {

/// An unevaluated sum: the rounded sum and the accumulated rounding errors. The algorithm is Dot2
/// of Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (SIAM J. Sci. Comput. 26(6), 2005,
/// Algorithm 5.3), with TwoProd by FMA (Algorithm 3.5).
template <class T>
struct Twofold {
  T value, error;

  __device__ __forceinline__ Twofold& operator+=(const Twofold& term) {
    const T sum = value + term.value;
    const T part = sum - value;
    error += (value - (sum - part)) + (term.value - part) + term.error;
    value = sum;
    return *this;
  }

  __device__ __forceinline__ void add_product(T x, T y) {
    const T product = ptx::mul_rn(x, y);
    *this += {product, ptx::fma_rn(x, y, -product)};
  }

  /// If the value is infinite or NaN, its errors are NaN and are ignored.
  __device__ __forceinline__ T rounded() const {
    return value - value == 0 ? value + error : value;
  }
};

template <class T>
__device__ __forceinline__ Twofold<T> shfl_down(const Twofold<T>& sum, unsigned by) {
  return {ptx::shfl_down(sum.value, by), ptx::shfl_down(sum.error, by)};
}

struct Compensated {
  static constexpr int THREADS = 256;
  static constexpr int MIN_BLOCKS_PER_SM = 3;

  // 16-byte loads of each vector in flight at once. 2-byte elements need twice the registers
  // once they are unpacked.
  template <class In>
  static constexpr int pieces_at_once() {
    return sizeof(In) < 4 ? 2 : 4;
  }

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    using Sum = Twofold<Out>;
    const Sum sum = cuda::block_sum<THREADS>(
        Terms::have_vectors(d) ? thread_sum<cuda::vector_width<In>, Terms, In, Out>(d)
                               : thread_sum<1, Terms, In, Out>(d));
    auto* const result = static_cast<Out*>(to.result);
    if (gridDim.x == 1) {
      if (threadIdx.x == 0) *result = sum.rounded();
      return;
    }

    // the last block: all block sums are available
    if (!cuda::is_last_to_store(to.workspace, sum)) return;
    const Sum* const sums = cuda::block_values<Sum>(to.workspace);
    Sum total{};
    for (unsigned block = threadIdx.x; block < gridDim.x; block += THREADS) total += sums[block];
    total = cuda::block_sum<THREADS>(total);
    if (threadIdx.x == 0) *result = total.rounded();
  }

  // The terms of this thread: a grid-stride loop over whole vectors, then the remainder.
  template <int W, class Terms, class In, class Out>
  static __device__ __forceinline__ Twofold<Out> thread_sum(const Dot<In>& d) {
    using Piece = typename Terms::template Piece<In, W>;
    constexpr int PIECES = pieces_at_once<In>();
    const std::int64_t thread = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
    const std::int64_t threads = std::int64_t{gridDim.x} * THREADS;
    const std::int64_t pieces = d.n / W;

    // load several, then multiply: the loads overlap
    Twofold<Out> sum{};
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
    if (rest < d.n) {
      sum.add_product(static_cast<Out>(d.x[rest * d.incx]), static_cast<Out>(d.y[rest * d.incy]));
    }
    return sum;
  }

  template <class Out, class Piece, int PIECES>
  static __device__ __forceinline__ void add(Twofold<Out>& sum, const Piece (&piece)[PIECES]) {
    RUNG_UNROLL
    for (int i = 0; i < PIECES; ++i) {
      RUNG_UNROLL
      for (int w = 0; w < Piece::width; ++w) {
        sum.add_product(static_cast<Out>(piece[i].x.at[w]), static_cast<Out>(piece[i].y.at[w]));
      }
    }
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int multiprocessors) {
    const std::int64_t wanted = cuda::ceil_div(d.n, THREADS * cuda::vector_width<In>);
    const std::int64_t most = std::int64_t{MIN_BLOCKS_PER_SM} * multiprocessors;
    const std::int64_t blocks = wanted < 1 ? 1 : wanted < most ? wanted : most;
    return {{.grid = {blocks},
             .block = {THREADS},
             .workspace_bytes = blocks > 1 ? cuda::block_values_bytes<Twofold<Out>>(blocks) : 0}};
  }
};

}  // namespace

RUNG_CUDA_DOT(compensated, Compensated, f32, f64, bf16, f16)

}  // namespace rung
