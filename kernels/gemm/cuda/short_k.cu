// gemm/cuda/short_k: a k of a few steps, for any type and alignment: a warp keeps all of its
//   columns of B in registers, and computes and stores C row by row.
// from: rank_k | removes: products of zeros if k is less than a k-block, sums kept for further
//   k-steps, and warps above each other: side by side they write long runs of a row | bottleneck:
//   writing C; a register or two spills
// needs: sm_80 | try: rung bench gemm/cuda/any_operands gemm/cuda/short_k --dtype bf16 --sizes
//   1450x1445x1

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/panel_loader.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung {
namespace {

/// For k up to BK; a longer k needs a pass over A and B for each TM rows. A lane computes TN
/// columns, 32 apart, so that a warp's stores are contiguous even if rows of C are not aligned.
template <int BK, int TN>
struct ShortK {
  static constexpr int WARPS = 4;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int MIN_BLOCKS_PER_SM = BK > 8 ? 4 : 5;
  static constexpr int WN = 32 * TN;
  static constexpr int BN = WARPS * WN;
  static constexpr int BM = 32;
  static constexpr int TM = 4;       // rows at a time
  static constexpr int AT_ONCE = 4;  // steps of k whose elements are in flight

  template <class Sum>
  struct Shared {
    alignas(16) Sum As[BM][BK];
    alignas(16) Sum Bs[BK][BN + cuda::vector_width<Sum>];
  };

  /// Rows of a block: fewer than BM if such blocks do not fill all SMs, but enough to amortize
  /// loading B.
  template <class In, class Out>
  static constexpr int rows_of_block(const Gemm<In, Out>& g) {
    constexpr int fewest_blocks = 512;
    int rows = BM;
    while (rows > BK && cuda::ceil_div(g.m, rows) * cuda::ceil_div(g.n, BN) < fewest_blocks) {
      rows /= 2;
    }
    return rows;
  }

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    using Sum = Scalar<Out>;
    __shared__ Shared<Sum> shared;

    // place
    const auto tiles_in_row = static_cast<unsigned>(cuda::ceil_div(g.n, BN));
    const int max_rows = rows_of_block(g);
    const std::int64_t row0 = std::int64_t{blockIdx.x / tiles_in_row} * max_rows;
    const std::int64_t col0 = std::int64_t{blockIdx.x % tiles_in_row} * BN;
    const int col = static_cast<int>(threadIdx.x) / 32 * WN +
                    static_cast<int>(threadIdx.x) % 32;  // the lane's first
    const int cols = g.n - col0 < BN ? static_cast<int>(g.n - col0) - col : BN;
    const int rows = g.m - row0 < max_rows ? static_cast<int>(g.m - row0) : max_rows;
    const int rows_of_pass = g.k > BK ? TM : rows;
    Out* const c = &g.c(row0, col0 + col);

    Sum acc[TM][TN] = {};
    for (int pass = 0; pass < rows; pass += rows_of_pass) {
      for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += BK) {
        const int steps = g.k - k0 < BK ? static_cast<int>(g.k - k0) : BK;
        const int loaded = load(g, row0, col0, k0, steps, shared);
        Sum b[BK][TN];
        RUNG_UNROLL
        for (int k = 0; k < BK; ++k) {
          RUNG_UNROLL
          for (int j = 0; j < TN; ++j) b[k][j] = k < loaded ? shared.Bs[k][col + j * 32] : Sum{};
        }
        RUNG_NO_UNROLL
        for (int row = pass; row < pass + rows_of_pass; row += TM) {
          multiply(&shared.As[row], b, steps, acc);
          if (k0 + BK < g.k) break;
          store(g, c + row * g.c.row_stride, rows - row, cols, acc);
          RUNG_UNROLL
          for (int i = 0; i < TM; ++i) {
            RUNG_UNROLL
            for (int j = 0; j < TN; ++j) acc[i][j] = Sum{};
          }
        }
      }
    }
  }

  /// Loads `steps` steps of the panels of A and B, with zeros up to a multiple of AT_ONCE, which it
  /// returns.
  template <class In, class Out, class Sum>
  static __device__ __forceinline__ int load(const Gemm<In, Out>& g, std::int64_t row0,
                                             std::int64_t col0, std::int64_t k0, int steps,
                                             Shared<Sum>& shared) {
    cuda::PanelLoader<In, BM, AT_ONCE, THREADS> a_panel(cuda::operand_a(g), row0, k0);
    cuda::PanelLoader<In, BN, AT_ONCE, THREADS> b_panel(cuda::operand_b(g), col0, k0);
    // sync: all reads of the previous panels are done
    if (g.k > BK) __syncthreads();
    int loaded = 0;
    RUNG_NO_UNROLL
    for (; loaded < steps; loaded += AT_ONCE) {
      a_panel.load(steps - loaded);
      b_panel.load(steps - loaded);
      a_panel.template store<1, BK>(&shared.As[0][loaded]);
      b_panel.template store<sizeof shared.Bs[0] / sizeof(Sum), 1>(shared.Bs[loaded]);
    }
    // sync: the panels are complete
    __syncthreads();
    return loaded;
  }

  /// acc += TM rows of A times the lane's columns of B, over `steps` steps.
  template <class Sum>
  static __device__ __forceinline__ void multiply(const Sum (*a)[BK], const Sum (&b)[BK][TN],
                                                  int steps, Sum (&acc)[TM][TN]) {
    constexpr int V = cuda::vector_width<Sum>;
    RUNG_UNROLL
    for (int k = 0; k < BK; k += V) {
      if (k >= steps) break;
      RUNG_UNROLL
      for (int i = 0; i < TM; ++i) {
        const auto vector = *reinterpret_cast<const cuda::Vector<Sum, V>*>(&a[i][k]);
        RUNG_UNROLL
        for (int v = 0; v < V; ++v) {
          RUNG_UNROLL
          for (int j = 0; j < TN; ++j) acc[i][j] += vector.at[v] * b[k + v][j];
        }
      }
    }
  }

  /// Stores the first `rows` of TM rows at c, for the lane's columns before `cols`, counted from
  /// its first column.
  template <class In, class Out, class Sum>
  static __device__ __forceinline__ void store(const Gemm<In, Out>& g, Out* c, int rows, int cols,
                                               const Sum (&acc)[TM][TN]) {
    const cuda::Epilogue<Out> epilogue(g);
    RUNG_UNROLL
    for (int i = 0; i < TM; ++i) {
      const int here = i < rows ? cols : 0;
      Out old[TN] = {};
      if (epilogue.reads_c()) {
        RUNG_UNROLL
        for (int j = 0; j < TN; ++j) {
          if (j * 32 < here) old[j] = c[j * 32];
        }
      }
      RUNG_UNROLL
      for (int j = 0; j < TN; ++j) {
        if (j * 32 < here) c[j * 32] = epilogue.combine(acc[i][j], old[j]);
      }
      c += g.c.row_stride;
    }
  }

  template <class, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, 0, 1, 0, WN, TM, TN};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig&) {
    const std::int64_t rows = cuda::ceil_div(g.m, rows_of_block(g));
    return {.grid = {rows * cuda::ceil_div(g.n, BN)}, .block = {THREADS}};
  }

  /// The smallest tile with BK >= k, if there is one.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int) {
    return {.tile = g.k <= 8 ? 0 : 1};
  }
};

//                   BK TN
using Of8 = ShortK<8, 4>;
using Of16 = ShortK<16, 4>;
using Of8Doubles = ShortK<8, 2>;
using Of16Doubles = ShortK<16, 2>;

}  // namespace

RUNG_CUDA_GEMM_TILES(short_k, (0, Of8, f32, i32, bf16, f16, tf32, i8, bf16_bf16, f16_f16),
                     (1, Of16, f32, i32, bf16, f16, tf32, i8, bf16_bf16, f16_f16),
                     (0, Of8Doubles, f64), (1, Of16Doubles, f64))

}  // namespace rung
