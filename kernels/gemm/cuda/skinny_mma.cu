// gemm/cuda/skinny_mma: up to 16 rows or columns on tensor cores: fragments of the long operand are
//   loaded from memory to registers, directly or with permutes, without a tile in shared memory.
// from: skinny | removes: a conversion and an FMA for each element and row, which take longer than
//   loading 16-bit elements | bottleneck: device memory; a register spills
// needs: sm_80 | try: rung bench gemm/cuda/skinny gemm/cuda/skinny_mma --dtype bf16 --sizes
//   8x8192x8192

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/skinny_sums.cuh"
#include "device/cuda/load/skinny_panels.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/skinny_cost.hpp"
#include "device/cuda/tile/skinny_problem.cuh"
#include "device/cuda/tile/skinny_words.cuh"

namespace rung {
namespace {

/// Rows of the long operand are the rows of an mma, m16n8; rows of the short operand are the
/// columns of one mma or two. The order of k-steps is arbitrary but the same in both operands, so
/// each lane uses the steps that it can load at once. Elements have SIZE bytes.
template <int SIZE>
struct SkinnyMma {
  static constexpr int ROWS = 16;   // of the short operand
  static constexpr int MANY = 128;  // rows of the long operand per block
  static constexpr int WARPS = 8;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int MIN_BLOCKS_PER_SM = 2;
  static constexpr int W = 16 / SIZE;   // elements of a vector
  static constexpr int CHUNK = 16 * W;  // k-steps of a block at a time: 256 bytes
  static constexpr int K_WARPS = 4;     // MN-major: warps that divide the k-steps

  template <class In, class Sum>
  union Shared {
    cuda::SkinnyPanels<In, ROWS, CHUNK, THREADS> panels;
    cuda::SkinnySums<Sum, ROWS, MANY, K_WARPS> sums;
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::SplitK& split_k) {
    const cuda::SkinnyProblem<In, Out> problem(g);
    auto& shared = cuda::dynamic_shared<Shared<In, Scalar<Out>>>();

    // place
    const cuda::BlockWork work = cuda::block_work(split_k);
    const auto place = cuda::SkinnyPlace::of<ROWS, MANY, CHUNK>(problem, work);

    const bool is_k_major = problem.is_k_major();
    const int bytes = cuda::aligned_bytes(problem.many);
    int k_warps = 1;  // warps with partial sums of the same results
    if (is_k_major && bytes == 16) {
      multiply_lines<16>(problem, place, shared);
    } else if (SIZE < 4 && is_k_major && bytes >= 4) {
      multiply_lines<4>(problem, place, shared);
    } else if (SIZE != 2 || bytes < 4) {
      multiply_lines<SIZE>(problem, place, shared);
    } else if constexpr (SIZE == 2) {
      bytes == 16 ? multiply_columns<16>(problem, place, shared)
                  : multiply_columns<4>(problem, place, shared);
      k_warps = K_WARPS;
    }
    // sync: the sums are complete
    __syncthreads();
    shared.sums.template store<THREADS>(problem, split_k, work, place, k_warps);
  }

  /// K-major, or element by element: a warp multiplies 16 rows of the long operand. A lane's vector
  /// of a row holds its elements of two fragments. BYTES: the size of a load.
  template <int BYTES, class In, class Out, class Shared>
  static __device__ __forceinline__ void multiply_lines(const cuda::SkinnyProblem<In, Out>& problem,
                                                        const cuda::SkinnyPlace& place,
                                                        Shared& shared) {
    // Vectors of each of two rows that a lane loads at once. Single elements take a register each.
    constexpr int VECTORS = BYTES >= 4 ? 4 : 2;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>(threadIdx.x) / 32 * 16 + lane / 4;
    const int k_lane = lane % 4 * W;

    // load: rows `row` and row + 8
    cuda::Words<4> lines[VECTORS][2];
    const auto& x = problem.many.x;
    const std::int64_t k_stride = BYTES == SIZE ? x.col_stride : 1;
    const In* const first = x.data + (place.many0 + row) * x.row_stride + k_lane * k_stride;
    const auto load_chunk = [&](std::int64_t k) RUNG_INLINE_LAMBDA {
      RUNG_UNROLL
      for (int i = 0; i < 2 * VECTORS; ++i) {
        const int half = i % 2 * 8, step = i / 2 * 4 * W;
        const bool exists = place.many0 + row + half < problem.many.extent;
        lines[i / 2][i % 2] =
            cuda::load_words<BYTES, 4>(first + half * x.row_stride + (k + step) * k_stride,
                                       exists ? place.range.end - k - k_lane - step : 0, k_stride);
      }
    };
    load_chunk(place.range.begin);
    Scalar<Out> acc[2][4] = {};
    shared.panels.template for_each<VECTORS * 4 * W>(
        problem.few, place,
        [&](const auto& panel, int t) RUNG_INLINE_LAMBDA {
          // multiply
          RUNG_UNROLL
          for (int side = 0; side < 2; ++side) {
            if (side * 8 >= place.rows) break;
            RUNG_UNROLL
            for (int j = 0; j < VECTORS; ++j) {
              const auto b =
                  cuda::as_operand<In>(panel.words(side * 8 + lane / 4, t + j * 4 * W + k_lane));
              const auto upper = cuda::as_operand<In>(lines[j][0]);
              const auto lower = cuda::as_operand<In>(lines[j][1]);
              RUNG_UNROLL
              for (int w = 0; w < 4; w += 2) {
                const std::uint32_t a[4] = {upper.at[w], lower.at[w], upper.at[w + 1],
                                            lower.at[w + 1]};
                ptx::mma_m16n8<In>(acc[side], a, &b.at[w]);
              }
            }
          }
        },
        load_chunk);
    RUNG_UNROLL
    for (int i = 0; i < 8; ++i) {
      const int few = i / 4 * 8 + lane % 4 * 2 + i % 2;
      shared.sums.at(0, few, row + i / 2 % 2 * 8) = acc[i / 4][i % 4];
    }
  }

  /// MN-major: a warp multiplies 64 rows of the long operand in every K_WARPS-th group of 32 steps.
  /// A lane holds eight rows by eight steps; permutes turn pairs of rows into pairs of steps.
  template <int BYTES, class In, class Out, class Shared>
  static __device__ __forceinline__ void multiply_columns(
      const cuda::SkinnyProblem<In, Out>& problem, const cuda::SkinnyPlace& place, Shared& shared) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int k_lane = warp % K_WARPS * 32 + lane % 4 * 8;
    const int row = warp / K_WARPS * 64 + lane / 4 * 8;

    // load
    cuda::Words<4> columns[8];
    const auto& x = problem.many.x;
    const In* const first = x.data + place.many0 + row + k_lane * x.col_stride;
    const std::int64_t left = problem.many.extent - place.many0 - row;
    const auto load_chunk = [&](std::int64_t k) RUNG_INLINE_LAMBDA {
      RUNG_UNROLL
      for (int i = 0; i < 8; ++i) {
        const std::int64_t step = k + i;
        columns[i] = cuda::load_words<BYTES, 4>(first + step * x.col_stride,
                                                step < place.range.end - k_lane ? left : 0);
      }
    };
    load_chunk(place.range.begin);
    Scalar<Out> acc[4][2][4] = {};
    shared.panels.template for_each<K_WARPS * 32>(
        problem.few, place,
        [&](const auto& panel, int t) RUNG_INLINE_LAMBDA {
          // multiply
          RUNG_UNROLL
          for (int side = 0; side < 2; ++side) {
            if (side * 8 >= place.rows) break;
            const auto b = panel.words(side * 8 + lane / 4, t + k_lane);
            RUNG_UNROLL
            for (int i = 0; i < 8; ++i) {
              const int half = i / 4, w = i % 4;
              const auto* const c = columns + half * 4;
              const std::uint32_t a[4] = {cuda::low_halves(c[0].at[w], c[1].at[w]),
                                          cuda::high_halves(c[0].at[w], c[1].at[w]),
                                          cuda::low_halves(c[2].at[w], c[3].at[w]),
                                          cuda::high_halves(c[2].at[w], c[3].at[w])};
              ptx::mma_m16n8<In>(acc[w][side], a, &b.at[half * 2]);
            }
          }
        },
        load_chunk);
    RUNG_UNROLL
    for (int i = 0; i < 32; ++i) {
      const int w = i / 8, few = i / 4 % 2 * 8 + lane % 4 * 2 + i % 2;
      shared.sums.at(warp % K_WARPS, few, row + w * 2 + i / 2 % 2) = acc[w][i / 4 % 2][i % 4];
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {ROWS, MANY, 0, THREADS, sizeof(Shared<In, Scalar<Out>>)};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t tiles = cuda::SkinnyShape<In>(g).tiles(ROWS, MANY);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Scalar<Out>>),
            .workspace_bytes = cuda::split_bytes<Scalar<Out>>(tiles, ROWS * MANY, chosen)};
  }

  /// Chooses the number of splits with the least expected time.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int multiprocessors) {
    const cuda::SkinnyShape<In> shape(g);
    const bool has_vectors = shape.leading_dimension() % W == 0;
    const double slowdown = has_vectors ? 1 : cuda::slowdown_without_vectors<In>;
    const cuda::SkinnyCost cost = {
        .tiles = shape.tiles(ROWS, MANY),
        .k_blocks = cuda::ceil_div(g.k, CHUNK),
        .bytes = static_cast<double>(shape.many) * static_cast<double>(g.k) * sizeof(In),
        .block_bytes = CHUNK * MANY * double{sizeof(In)},
        .slowdown = slowdown,
        .start = 2.6,
        .k_block = 0.42 * slowdown,
        .results = ROWS * MANY / THREADS,
        .multiprocessors = multiprocessors,
        .blocks_at_once = MIN_BLOCKS_PER_SM,
        .meeting = 1.4,
        .sum = 0.008};
    const int parts = cost.best_parts();
    return {.splits = parts < multiprocessors ? parts : multiprocessors};
  }
};

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16 tf32 i8
RUNG_CUDA_GEMM_TILES(skinny_mma, (0, SkinnyMma<2>, bf16, f16, bf16_bf16, f16_f16),
                     (0, SkinnyMma<4>, tf32), (0, SkinnyMma<1>, i8))

}  // namespace rung
