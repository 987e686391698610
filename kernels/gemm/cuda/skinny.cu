// gemm/cuda/skinny: few rows or columns, down to matrix times vector: elements of the long operand
//   are used a few times each, so they go from memory to registers without a tile in shared memory.
// from: fma_tiles | removes: tiles that are mostly outside C, and the detour through shared memory
//   | bottleneck: device memory; a register or two spills
// needs: sm_80 | try: rung bench gemm/cuda/fma_tiles gemm/cuda/skinny --sizes 1x4096x4096

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/reduce/block_sum.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/skinny_cost.hpp"
#include "device/cuda/tile/skinny_problem.cuh"

namespace rung {
namespace {

/// Multiplies ROWS rows of the short operand at a time.
template <int ROWS>
struct Skinny {
  static constexpr int WARPS = 8;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int MIN_BLOCKS_PER_SM = 2;
  static constexpr int LINES = 8;     // K-major: rows of the long operand per warp
  static constexpr int K_PART = 128;  // splits of k are multiples of this: whole cache lines

  /// Rows of the long operand per block.
  template <class In>
  static constexpr int many_rows(bool k_major) {
    return k_major ? WARPS * LINES : 32 * cuda::skinny_width<In>;
  }

  template <class In, class Sum>
  struct Shared {
    static constexpr int STEPS = 16384 / sizeof(Sum) / ROWS;
    alignas(16) Sum panel[ROWS * STEPS];  // of the short operand; finally the sums of each warp
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
    cuda::store_by_last<THREADS, ROWS * TAKEN>(
        split_k.workspace, work, count, [&](int i) RUNG_INLINE_LAMBDA { return shared.results[i]; },
        store);
  }

  /// K-major: dot products. The lanes of a warp share LINES rows along k.
  template <bool VECTORS, class In, class Out, class Shared>
  static __device__ __forceinline__ void multiply_lines(const cuda::SkinnyProblem<In, Out>& problem,
                                                        std::int64_t few0, std::int64_t many0,
                                                        const cuda::KRange& range, Shared& shared) {
    using Sum = Scalar<Out>;
    // 16-bit elements that are loaded one by one take a register each.
    constexpr int W = cuda::skinny_width<In> / (VECTORS || sizeof(In) >= 4 ? 1 : 2);
    constexpr int V = cuda::vector_width<Sum> < W ? cuda::vector_width<Sum> : W;
    constexpr int CHUNK = 32 * W;  // k-steps of a warp at a time
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>(threadIdx.x) / 32 * LINES;  // the warp's first

    // load
    cuda::LaneElements<In, W> lines[LINES];
    const In* const first = problem.many.x.data + (many0 + row) * problem.many.x.row_stride;
    const auto load_chunk = [&](std::int64_t k) RUNG_INLINE_LAMBDA {
      RUNG_UNROLL
      for (int r = 0; r < LINES; ++r) {
        cuda::load<VECTORS>(lines[r], first + r * problem.many.x.row_stride + k, lane,
                            many0 + row + r < problem.many.extent ? range.end - k : 0);
      }
    };
    load_chunk(range.begin);
    Sum acc[LINES][ROWS] = {};
    problem.template for_each_panel<ROWS, Shared::STEPS, CHUNK, THREADS>(
        few0, range, shared.panel,
        [](int s, int t) RUNG_INLINE_LAMBDA {
          return s * Shared::STEPS + cuda::place_in_panel<VECTORS, W, V>(t);
        },
        [&](std::int64_t k0, int steps) RUNG_INLINE_LAMBDA {
          for (int t = 0; t < steps; t += CHUNK) {
            // multiply
            RUNG_UNROLL
            for (int v = 0; v < W / V; ++v) {
              RUNG_UNROLL
              for (int s = 0; s < ROWS; ++s) {
                const Sum* const at = shared.panel + s * Shared::STEPS + t + (v * 32 + lane) * V;
                const auto x = *reinterpret_cast<const cuda::Vector<Sum, V>*>(at);
                RUNG_UNROLL
                for (int w = 0; w < V; ++w) {
                  RUNG_UNROLL
                  for (int r = 0; r < LINES; ++r) {
                    acc[r][s] += x.at[w] * cuda::as_sum<Sum>(lines[r][v * V + w]);
                  }
                }
              }
            }
            load_chunk(k0 + t + CHUNK);
          }
        });
    RUNG_UNROLL
    for (int r = 0; r < LINES; ++r) {
      RUNG_UNROLL
      for (int s = 0; s < ROWS; ++s) {
        const Sum total = cuda::warp_sum(acc[r][s]);
        if (lane == 0) shared.results[s * WARPS * LINES + row + r] = total;
      }
    }
  }

  /// MN-major: a thread multiplies W rows of the long operand, and a warp every WARPS-th step of k.
  template <bool VECTORS, class In, class Out, class Shared>
  static __device__ __forceinline__ void multiply_columns(
      const cuda::SkinnyProblem<In, Out>& problem, std::int64_t few0, std::int64_t many0,
      const cuda::KRange& range, Shared& shared) {
    using Sum = Scalar<Out>;
    constexpr int W = cuda::skinny_width<In>;
    constexpr int MANY = many_rows<In>(false);
    constexpr int AT_ONCE = VECTORS || W < 8 ? 8 : 4;
    constexpr int CHUNK = WARPS * AT_ONCE;  // k-steps of the block at a time
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t left = problem.many.extent - many0;

    // load
    cuda::LaneElements<In, W> columns[AT_ONCE];
    const In* const first = problem.many.x.data + many0;
    const auto load_chunk = [&](std::int64_t k) RUNG_INLINE_LAMBDA {
      RUNG_UNROLL
      for (int i = 0; i < AT_ONCE; ++i) {
        const std::int64_t step = k + warp + i * WARPS;
        cuda::load<VECTORS>(columns[i], first + step * problem.many.x.col_stride, lane,
                            step < range.end ? left : 0);
      }
    };
    load_chunk(range.begin);
    Sum acc[ROWS][W] = {};
    problem.template for_each_panel<ROWS, Shared::STEPS, CHUNK, THREADS>(
        few0, range, shared.panel, [](int s, int t) RUNG_INLINE_LAMBDA { return t * ROWS + s; },
        [&](std::int64_t k0, int steps) RUNG_INLINE_LAMBDA {
          for (int t = 0; t < steps; t += CHUNK) {
            // multiply
            RUNG_UNROLL
            for (int i = 0; i < AT_ONCE; ++i) {
              const Sum* const at = shared.panel + (t + warp + i * WARPS) * ROWS;
              const auto x = *reinterpret_cast<const cuda::Vector<Sum, ROWS>*>(at);
              RUNG_UNROLL
              for (int s = 0; s < ROWS; ++s) {
                RUNG_UNROLL
                for (int w = 0; w < W; ++w) acc[s][w] += x.at[s] * cuda::as_sum<Sum>(columns[i][w]);
              }
            }
            load_chunk(k0 + t + CHUNK);
          }
        });

    // Add up the sums of all warps, a row at a time.
    RUNG_UNROLL
    for (int s = 0; s < ROWS; ++s) {
      // sync: all reads of the panel, or of the previous row, are done
      __syncthreads();
      cuda::store_to_shared<VECTORS>(shared.panel + warp * MANY, lane, acc[s]);
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

  template <class In, class>
  static constexpr cuda::TileShape shape() {
    return {ROWS, many_rows<In>(false), 0, THREADS, 0};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const cuda::SkinnyShape<In> shape(g);
    const int many = many_rows<In>(shape.is_k_major());
    const std::int64_t tiles = shape.tiles(ROWS, many);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .workspace_bytes = cuda::split_bytes<Scalar<Out>>(tiles, ROWS * many, chosen)};
  }

  /// Chooses the number of splits with the least expected time.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int multiprocessors) {
    const cuda::SkinnyShape<In> shape(g);
    const int tile = cuda::skinny_tile<In>(shape.few);
    const int rows = cuda::skinny_rows<In>[tile], many = many_rows<In>(shape.is_k_major());
    const bool has_vectors = shape.leading_dimension() % cuda::skinny_width<In> == 0;
    const cuda::SkinnyCost cost = {
        .tiles = shape.tiles(rows, many),
        .k_blocks = cuda::ceil_div(g.k, K_PART),
        .bytes = static_cast<double>(shape.many) * static_cast<double>(g.k) * sizeof(In),
        .block_bytes = K_PART * static_cast<double>(many * sizeof(In)),
        .slowdown = has_vectors ? 1 : cuda::slowdown_without_vectors<In>,
        .start = 0.54,
        .k_block = 0.16 * rows,
        .results = (rows * many + THREADS - 1) / THREADS,
        .multiprocessors = multiprocessors,
        .blocks_at_once = MIN_BLOCKS_PER_SM};
    return {.tile = tile, .splits = cost.best_parts()};
  }
};

}  // namespace

// compiled by type: f32 f64 bf16 f16 bf16_bf16 f16_f16 tf32 i8
RUNG_CUDA_GEMM_TILES(skinny, (0, Skinny<1>, f32, f64, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (1, Skinny<2>, f32, f64), (2, Skinny<4>, f32),
                     (1, Skinny<4>, bf16, f16, bf16_bf16, f16_f16, tf32, i8))

}  // namespace rung
