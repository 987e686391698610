// dot/cuda/reproducible: sum without rounding: the result is the exact sum, rounded once, and its
//   bits depend on neither the order of the terms, nor the grid, nor the device.
// from: compensated | removes: low-order bits that depend on how the sum is partitioned, and the
//   error itself | bottleneck: memory bandwidth, unless widely spread exponents send terms to the
//   integer accumulator; with f64, the integer code spills registers on sm_80
// needs: nothing | try: rung verify dot/cuda/reproducible

#include "device/cuda/entry/dot.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/reduce/block_words.cuh"

namespace rung {
namespace {

// A long accumulator costs tens of instructions per term. A floating-point expansion absorbs most
// terms first: a few doubles in registers whose sum is exact, because each addition passes its
// rounding error on to the next. After Collange, Defour, Graillat and Iakymchuk, "Numerical
// reproducibility for the parallel reduction on multi- and many-core architectures", Parallel
// Computing 49, 2015. Each block has one long accumulator, in shared memory.
template <class In, class Out>
class ExactSum {
 public:
  __device__ __forceinline__ explicit ExactSum(std::int64_t* words)
      : words_(ptx::cvta_to_shared(words)) {}

  /// Adds the products of the N elements of d from i on.
  template <int N>
  __device__ __forceinline__ void add_products(const Dot<In>& d, std::int64_t i, const In* x,
                                               const In* y) {
    double before[USUAL], left[N * TERMS];
    RUNG_UNROLL
    for (int p = 0; p < USUAL; ++p) before[p] = parts_[p];
    bool usual = true, nothing_left = true;  // one test for all, so & and not &&
    RUNG_UNROLL
    for (int w = 0; w < N; ++w) {
      usual = usual & add_product(widened(x[w]), widened(y[w]), &left[w * TERMS]);
    }
    RUNG_UNROLL
    for (int l = 0; l < N * TERMS; ++l) nothing_left = nothing_left & (left[l] == 0);
    if (usual & nothing_left) return;

    RUNG_UNROLL
    for (int l = 0; l < N * TERMS; ++l) usual = usual & (left[l] == left[l]);
    if (usual) {
      add_rest(left);
      return;
    }
    // Infinite, NaN, or doubles near the ends of their range: undo the addition.
    RUNG_UNROLL
    for (int p = 0; p < USUAL; ++p) parts_[p] = before[p];
    RUNG_NO_UNROLL
    for (int w = 0; w < N; ++w, ++i) {
      cuda::add_product<Out>(words_, widened(d.x[i * d.incx]), widened(d.y[i * d.incy]));
    }
  }

  /// Reduces the lane sums of a warp to lane 0, which adds them to the words.
  __device__ __forceinline__ void finish() {
    const unsigned lane = threadIdx.x % cuda::warp_lanes;
    RUNG_NO_UNROLL
    for (unsigned lanes = cuda::warp_lanes / 2; lanes > 0; lanes /= 2) {
      double left[PARTS];
      RUNG_UNROLL
      for (int p = 0; p < PARTS; ++p) left[p] = ptx::shfl_down(parts_[p], lanes);
      if (lane >= lanes) continue;
      RUNG_UNROLL
      for (int p = 0; p < PARTS; ++p) left[p] = add_term<PARTS>(left[p], p);
      to_words(left);
    }
    if (lane == 0) to_words(parts_);
  }

 private:
  // A product of two floats or narrower types is exact in double; that of two doubles has an error.
  static constexpr int TERMS = sizeof(In) == 8 ? 2 : 1;
  // The number of doubles that hold a typical sum of such terms: 16, 48 or 106 bits, plus the range
  // of their exponents. Two more hold what these cannot.
  static constexpr int USUAL = sizeof(In) == 2 ? 1 : sizeof(In) == 4 ? 2 : 3;
  static constexpr int PARTS = USUAL + 2;

  static __device__ __forceinline__ double widened(In value) {
    return static_cast<double>(static_cast<Out>(value));
  }

  /// sum += term; returns the exact rounding error (Knuth, TAOCP 2, 4.2.2, theorem B).
  static __device__ __forceinline__ double add(double& sum, double term) {
    const double total = sum + term;
    const double part = total - sum;
    const double error = (sum - (total - part)) + (term - part);
    sum = total;
    return error;
  }

  /// Adds a term to the parts from `first` to END; returns the remainder.
  template <int END>
  __device__ __forceinline__ double add_term(double term, int first) {
    RUNG_UNROLL
    for (int p = first; p < END; ++p) term = add(parts_[p], term);
    return term;
  }

  /// Adds x * y to the usual parts and outputs the remainder: usually 0, and NaN if x * y is
  /// infinite or NaN. Returns whether its terms are exact in double and add up without overflow.
  __device__ __forceinline__ bool add_product(double x, double y, double* left) {
    const double product = ptx::mul_rn(x, y);
    left[0] = add_term<USUAL>(product, 0);
    if (TERMS == 1) return true;
    left[TERMS - 1] = add_term<USUAL>(ptx::fma_rn(x, y, -product), 1);
    const double size = ptx::abs_f64(product);
    return (size <= 0x1p900) & ((size >= 0x1p-900) | (x == 0) | (y == 0));
  }

  /// Adds the remainder of the usual parts.
  template <int LEFT>
  __device__ __forceinline__ void add_rest(double (&left)[LEFT]) {
    bool nothing_left = true;
    RUNG_UNROLL
    for (int l = 0; l < LEFT; ++l) {
      left[l] = add_term<PARTS>(left[l], USUAL);
      nothing_left = nothing_left & (left[l] == 0);
    }
    if (!nothing_left) to_words(left);
  }

  /// Registers cannot be indexed, and unrolling would repeat the body many times, so the loop uses
  /// the first element and shifts the others down.
  template <int N>
  __device__ __forceinline__ void to_words(double (&terms)[N]) {
    RUNG_NO_UNROLL
    for (int t = 0; t < N; ++t) {
      cuda::add_value<Out>(words_, terms[0]);
      RUNG_UNROLL
      for (int next = 1; next < N; ++next) terms[next - 1] = terms[next];
    }
  }

  double parts_[PARTS] = {};
  std::uint32_t words_;
};

struct Reproducible {
  static constexpr int THREADS = 256;
  static constexpr int MIN_BLOCKS_PER_SM = 3;

  template <class Terms, class In, class Out>
  static __device__ __forceinline__ void kernel(const Dot<In>& d, const cuda::DotTarget& to) {
    using Long = LongAccumulator<Out>;
    static_assert(Long::words <= THREADS);
    __shared__ std::int64_t words[Long::words];
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < Long::words) words[thread] = 0;
    __syncthreads();
    if (Terms::have_vectors(d)) {
      add_up<cuda::vector_width<In>, Terms, In, Out>(d, words);
    } else {
      add_up<1, Terms, In, Out>(d, words);
    }
    __syncthreads();

    // store: one warp of the only block, or of the last one, which holds the total
    if (thread >= cuda::warp_lanes) return;
    if (gridDim.x > 1 && !cuda::is_last_to_add<Long>(to.workspace, words)) return;
    if (thread == 0) *static_cast<Out*>(to.result) = Long::rounded(words);
  }

  // Pieces in a grid-stride loop, then the remainder that is less than a piece.
  template <int W, class Terms, class In, class Out>
  static __device__ __forceinline__ void add_up(const Dot<In>& d, std::int64_t* words) {
    using Piece = typename Terms::template Piece<In, W>;
    // Loads in flight, limited by registers: each element takes one register.
    constexpr int PIECES = sizeof(In) == 2 ? 2 : 4;
    constexpr int N = W < 4 ? W : 4;  // elements tested together for a remainder
    const std::int64_t thread = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
    const std::int64_t threads = std::int64_t{gridDim.x} * THREADS;
    const std::int64_t pieces = d.n / W;

    ExactSum<In, Out> sum(words);
    for (std::int64_t p = thread; p < pieces; p += PIECES * threads) {
      Piece piece[PIECES];
      RUNG_UNROLL
      for (int i = 0; i < PIECES; ++i) {
        const std::int64_t at = p + i * threads;
        piece[i] = at < pieces ? Piece(d, at) : Piece();
      }
      RUNG_UNROLL
      for (int i = 0; i < PIECES; ++i) {
        RUNG_UNROLL
        for (int w = 0; w < W; w += N) {
          sum.template add_products<N>(d, (p + i * threads) * W + w, piece[i].x.at + w,
                                       piece[i].y.at + w);
        }
      }
    }
    const std::int64_t rest = pieces * W + thread;
    if (rest < d.n) {
      sum.template add_products<1>(d, rest, d.x + rest * d.incx, d.y + rest * d.incy);
    }
    sum.finish();
  }

  template <class In, class Out>
  static cuda::DotLaunch launch(const Dot<In>& d, int multiprocessors) {
    const std::int64_t wanted = cuda::ceil_div(d.n, THREADS * cuda::vector_width<In>);
    const std::int64_t most = std::int64_t{MIN_BLOCKS_PER_SM} * multiprocessors;
    // The words of a block can hold this many terms before carries must be propagated.
    constexpr std::int64_t max_terms = 1 << 26;
    const std::int64_t least = cuda::ceil_div(d.n, max_terms);
    const std::int64_t few = wanted < 1 ? 1 : wanted < most ? wanted : most;
    const std::int64_t blocks = few < least ? least : few;
    return {{.grid = {blocks},
             .block = {THREADS},
             .workspace_bytes = blocks > 1 ? cuda::semaphores_bytes : 0}};
  }
};

}  // namespace

RUNG_CUDA_DOT(reproducible, Reproducible, f32, f64, bf16, f16)

}  // namespace rung
