// gemm/cuda/50_skinny: few rows or columns, down to matrix times vector: elements of the long
//   operand are used a few times each, so they go from memory to registers without a tile.
// from: 11_split_k | removes: tiles of which most rows or columns lie beyond the edges of C, and a
//   way through shared memory | bottleneck: device memory, and the loads in flight; i8 spills
// needs: sm_80 | try: rung bench gemm/cuda/11 gemm/cuda/50 --sizes 1x4096x4096

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/reduce/block_sum.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/skinny_problem.cuh"

namespace rung {
namespace {

/// Takes ROWS rows of the short operand at a time.
template <int ROWS>
struct Skinny {
  static constexpr int WARPS = 8;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int MIN_BLOCKS_PER_SM = 2;
  static constexpr int LINES = 4;    // rows of the long operand of a warp, K-major
  static constexpr int AT_ONCE = 8;  // steps of k of a warp at a time, otherwise
  static constexpr int K_PART = 16;  // parts of k are multiples of it, so that vectors are aligned

  /// How many rows of the long operand a block takes.
  template <class In>
  static constexpr int many_rows(bool k_major) {
    return k_major ? WARPS * LINES : 32 * cuda::skinny_width<In>;
  }

  template <class In, class Sum>
  struct Shared {
    static constexpr int STEPS = 16384 / sizeof(Sum) / ROWS;
    Sum panel[ROWS * STEPS];  // of the short operand; at the end a row of sums of each warp
    Sum results[ROWS * many_rows<In>(false)];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::SplitK& split_k) {
    __shared__ Shared<In, Scalar<Out>> shared;
    const cuda::SkinnyProblem<In, Out> problem(g);
    if (problem.is_k_major()) {
      problem.has_vectors() ? kernel<true, true>(problem, split_k, shared)
                            : kernel<true, false>(problem, split_k, shared);
    } else {
      problem.has_vectors() ? kernel<false, true>(problem, split_k, shared)
                            : kernel<false, false>(problem, split_k, shared);
    }
  }

  template <bool K_MAJOR, bool VECTORS, class Problem, class Shared>
  static __device__ __forceinline__ void kernel(const Problem& problem, const cuda::SplitK& split_k,
                                                Shared& shared) {
    // place
    constexpr int MANY = sizeof shared.results / sizeof shared.results[0] / ROWS;
    constexpr int TAKEN = K_MAJOR ? WARPS * LINES : MANY;
    const cuda::BlockWork work = cuda::block_work(split_k);
    const auto columns = static_cast<unsigned>(cuda::ceil_div(problem.many.extent, TAKEN));
    const std::int64_t few0 = std::int64_t{work.tile / columns} * ROWS;
    const std::int64_t many0 = std::int64_t{work.tile % columns} * TAKEN;
    const cuda::KRange range = cuda::part_of_k<K_PART>(problem.g.k, work.parts, work.part);

    if constexpr (K_MAJOR) {
      multiply_lines<VECTORS>(problem, few0, many0, range, shared);
    } else {
      multiply_columns<VECTORS>(problem, few0, many0, range, shared);
    }

    // sync: the results are complete
    __syncthreads();
    const std::int64_t many = problem.many.extent - many0, few = problem.few.extent - few0;
    const int count = static_cast<int>(few < ROWS ? few : ROWS) * TAKEN;
    const auto store = [&](int i, const auto& sum) RUNG_INLINE_LAMBDA {
      if (i % TAKEN < many) problem.store(few0 + i / TAKEN, many0 + i % TAKEN, sum);
    };
    cuda::store_or_share<THREADS, ROWS * TAKEN>(
        split_k.workspace, work, count, [&](int i) RUNG_INLINE_LAMBDA { return shared.results[i]; },
        store);
  }

  /// K-major: dot products. The lanes of a warp share LINES rows along k.
  template <bool VECTORS, class In, class Out, class Shared>
  static __device__ __forceinline__ void multiply_lines(const cuda::SkinnyProblem<In, Out>& problem,
                                                        std::int64_t few0, std::int64_t many0,
                                                        const cuda::KRange& range, Shared& shared) {
    using Sum = Scalar<Out>;
    constexpr int W = cuda::skinny_width<In>;
    constexpr int STEPS = Shared::STEPS;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t first = many0 + warp * LINES;
    Sum acc[LINES][ROWS] = {};
    problem.template for_each_panel<ROWS, STEPS, STEPS, 1, 32 * W, THREADS>(
        few0, range, shared.panel, [&](std::int64_t k0, int steps) RUNG_INLINE_LAMBDA {
          for (int t = 0; t < steps; t += 32 * W) {
            // load
            In line[LINES][W];
            RUNG_UNROLL
            for (int r = 0; r < LINES; ++r) {
              const bool exists = first + r < problem.many.extent;
              load<VECTORS>(line[r], &problem.many.x(first + r, k0 + t), lane,
                            exists ? steps - t : 0);
            }

            // multiply
            RUNG_UNROLL
            for (int w = 0; w < W; ++w) {
              RUNG_UNROLL
              for (int s = 0; s < ROWS; ++s) {
                const Sum x = shared.panel[s * STEPS + t + place<VECTORS, W>(lane, w)];
                RUNG_UNROLL
                for (int r = 0; r < LINES; ++r) acc[r][s] += x * cuda::as_sum<Sum>(line[r][w]);
              }
            }
          }
        });
    RUNG_UNROLL
    for (int r = 0; r < LINES; ++r) {
      RUNG_UNROLL
      for (int s = 0; s < ROWS; ++s) {
        const Sum total = cuda::warp_sum(acc[r][s]);
        if (lane == 0) shared.results[s * WARPS * LINES + warp * LINES + r] = total;
      }
    }
  }

  /// MN-major: a thread has W rows of the long operand, and a warp every WARPS-th step of k.
  template <bool VECTORS, class In, class Out, class Shared>
  static __device__ __forceinline__ void multiply_columns(
      const cuda::SkinnyProblem<In, Out>& problem, std::int64_t few0, std::int64_t many0,
      const cuda::KRange& range, Shared& shared) {
    using Sum = Scalar<Out>;
    constexpr int W = cuda::skinny_width<In>;
    constexpr int MANY = many_rows<In>(false);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t left = problem.many.extent - many0;
    const int count = left < MANY ? static_cast<int>(left) : MANY;
    Sum acc[ROWS][W] = {};
    problem.template for_each_panel<ROWS, Shared::STEPS, 1, ROWS, WARPS * AT_ONCE, THREADS>(
        few0, range, shared.panel, [&](std::int64_t k0, int steps) RUNG_INLINE_LAMBDA {
          for (int t = warp; t < steps; t += WARPS * AT_ONCE) {
            // load
            In column[AT_ONCE][W];
            RUNG_UNROLL
            for (int i = 0; i < AT_ONCE; ++i) {
              load<VECTORS>(column[i], &problem.many.x(many0, k0 + t + i * WARPS), lane,
                            t + i * WARPS < steps ? count : 0);
            }

            // multiply
            RUNG_UNROLL
            for (int i = 0; i < AT_ONCE; ++i) {
              RUNG_UNROLL
              for (int s = 0; s < ROWS; ++s) {
                const Sum x = shared.panel[(t + i * WARPS) * ROWS + s];
                RUNG_UNROLL
                for (int w = 0; w < W; ++w) acc[s][w] += x * cuda::as_sum<Sum>(column[i][w]);
              }
            }
          }
        });

    // The sums of all warps, a row at a time.
    RUNG_UNROLL
    for (int s = 0; s < ROWS; ++s) {
      // sync: all reads of the panel, or of the previous row, are done
      __syncthreads();
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) {
        shared.panel[warp * MANY + place<VECTORS, W>(lane, w)] = acc[s][w];
      }
      // sync: the row is complete
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < MANY; i += THREADS) {
        Sum total{};
        RUNG_UNROLL
        for (int from = 0; from < WARPS; ++from) total += shared.panel[from * MANY + i];
        shared.results[s * MANY + i] = total;
      }
    }
  }

  /// Where the w-th of a lane's W elements is, among those of the warp.
  template <bool VECTORS, int W>
  static __device__ __forceinline__ int place(int lane, int w) {
    return VECTORS ? lane * W + w : w * 32 + lane;
  }

  /// The lane's elements, of which `count` of the warp's exist, and zeros for the rest.
  template <bool VECTORS, class In, int W>
  static __device__ __forceinline__ void load(In (&to)[W], const In* from, int lane, int count) {
    if (VECTORS && (lane + 1) * W <= count) {
      const auto vector = *reinterpret_cast<const cuda::Vector<In, W>*>(from + lane * W);
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) to[w] = vector.at[w];
      return;
    }
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) {
      const int at = place<VECTORS, W>(lane, w);
      to[w] = at < count ? from[at] : In{};
    }
  }

  template <class In, class>
  static constexpr cuda::TileShape shape() {
    return {ROWS, many_rows<In>(false), 0, THREADS, 0};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const bool many_is_b = g.m <= g.n;
    const int many = many_rows<In>((many_is_b ? g.b.row_stride : g.a.col_stride) == 1);
    const std::int64_t tiles =
        cuda::ceil_div(many_is_b ? g.m : g.n, ROWS) * cuda::ceil_div(many_is_b ? g.n : g.m, many);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .workspace_bytes = cuda::split_bytes<Scalar<Out>>(tiles, ROWS * many, chosen)};
  }

  /// The smallest ROWS that takes the short operand at once, if there is one, and parts of k for
  /// four blocks on each SM, of 512 steps or more along a row and 128 or more across.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int multiprocessors) {
    const std::int64_t few = g.m <= g.n ? g.m : g.n;
    cuda::GemmConfig config = {.tile = few <= 1 ? 0 : few <= 2 ? 1 : cuda::skinny_last_tile<In>};
    const bool k_major = (g.m <= g.n ? g.b.row_stride : g.a.col_stride) == 1;
    const std::int64_t tiles = cuda::ceil_div(few, 1 << config.tile) *
                               cuda::ceil_div(few == g.m ? g.n : g.m, many_rows<In>(k_major));
    const std::int64_t most = g.k / (k_major ? 512 : 128);
    const std::int64_t wanted = 4 * multiprocessors / (tiles > 0 ? tiles : 1);
    const std::int64_t splits = wanted < most ? wanted : most;
    config.splits = splits < 1 ? 1 : static_cast<int>(splits);
    return config;
  }
};

}  // namespace

// compiled by type: f32 f64 i32 bf16 f16 bf16_bf16 f16_f16 tf32 i8
RUNG_CUDA_GEMM_TILES(50, skinny,
                     (0, Skinny<1>, f32, f64, i32, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (1, Skinny<2>, f32, f64, i32, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (2, Skinny<4>, f32, i32))

}  // namespace rung
