// gemm/cuda/wgmma_tiles: the library's wgmma kernel: rung 31 with smaller TMA boxes for matrices of
//   few rows, and with C loaded by TMA.
// from: 31_dependent_launch | removes: rows outside the matrix, and the latency of reading C |
//   bottleneck: power and, for small results, launch latency
// needs: sm_90a | try: rung bench gemm/cuda/wgmma_tiles --device gpu --dtype bf16 --sizes 1024

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/epilogue/staged_c.cuh"
#include "device/cuda/load/short_tiles.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/overlapping_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

/// Tiles of more than 128 x 128 multiply for longer than TMA takes for rows outside, and those of
/// 64 x 64 for so short a time that the instructions that avoid such rows slow some shapes down
/// (wgmma_multicast has the other kind). All others overlap.
template <int BM, int BN, int STAGES, int CLUSTER>
struct WgmmaTile {
  static constexpr bool OVERLAPS = 64 * 64 < BM * BN && BM * BN <= 128 * 128;
  // Tile rows per swizzle group. Consecutive blocks run on the SMs of one GPC, for which a request
  // coalescer merges requests for the same lines. Tiles of 64 columns are limited by L2, and read
  // fewest different lines if the 16 tiles of a GPC form a square.
  static constexpr unsigned GROUP = BN == 64 ? 4 : 8 * 128 / BM;
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  template <class In>
  static constexpr int BK = 128 / sizeof(In);  // rows of 128 bytes
  template <class In>
  using Scheduler = cuda::TileScheduler<BM, BN, 128 / sizeof(In), CLUSTER>;
  using Short = cuda::ShortTiles<BM, BN, CLUSTER>;

  template <class In, class Out>
  struct Shared : cuda::StageBarriers<STAGES, CLUSTER> {
    static_assert(cuda::requires_k_major<In> || BN / CLUSTER % 64 == 0, "boxes have 64 columns");
    alignas(1024) In As[STAGES][BM * BK<In>];
    alignas(1024) In Bs[STAGES][BN * BK<In>];
    cuda::TmaStoreEpilogue<BN, Out> Cs[CONSUMERS];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::SplitK& split_k) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) shared.init(CONSUMERS * 4);
    ptx::barrier_cluster_arrive_wait();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, split_k, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, split_k, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 Shared<In, Out>& shared) {
    constexpr int PART = BN / CLUSTER;
    const int my_part = static_cast<int>(ptx::cluster_ctarank()) * PART;
    const int stage_bytes = (Short::rows(g) + Short::cols(g)) * 128;
    const cuda::CStages<Out> c_stages(g);
    const cuda::OverlappingTiles<BM, BN, OVERLAPS> tiles(g);
    const Scheduler<In> scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const cuda::OverlappingTile whole = tiles.at(tile);
          const int row = static_cast<int>(whole.row), col = static_cast<int>(whole.col);
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            for (int k = static_cast<int>(work.k_begin); k < work.k_end; k += BK<In>) {
              // load: this block's rows of A, and its part of B for all, whose parts count here too
              const std::uint32_t full = shared.expect(state, stage_bytes);
              cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, A_K_MAJOR,
                                  row, k, full);
              const std::uint32_t b =
                  ptx::cvta_to_shared(&shared.Bs[state.stage][my_part * BK<In>]);
              if constexpr (CLUSTER == 1) {
                cuda::load_tile<BN>(b, maps.b, B_K_MAJOR, col, k, full);
              } else {
                cuda::load_tile_multicast<PART>((1 << CLUSTER) - 1, b, maps.b, B_K_MAJOR,
                                                col + my_part, k, full);
              }
              state.advance();
            }
          });

          // load: C, if results depend on it, into the stage of A; a box for each warpgroup
          if (work.splits > 1 || !c_stages.is_read) return;
          for (int c = 0; c < BN; c += cuda::staged_columns<Out>) {
            const std::uint32_t full = shared.expect(state, sizeof shared.As[0]);
            cuda::load_staged_c<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.c, row,
                                    col + c, full);
            state.advance();
          }
        });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 Shared<In, Out>& shared) {
    const int group = cuda::warpgroup() - 1;
    Short::template clear<CONSUMERS * 128>(g, shared.As, shared.Bs, 1 + CONSUMERS);
    const cuda::CStages<Out> c_stages(g);
    const cuda::OverlappingTiles<BM, BN, OVERLAPS> tiles(g);
    const Scheduler<In> scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          Scalar<Out> acc[BN / 8][4] = {};
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            using ATile = cuda::SwizzledTile<BM, A_K_MAJOR, sizeof(In)>;
            using BTile = cuda::SwizzledTile<BN, B_K_MAJOR, sizeof(In)>;
            cuda::multiply_stages<ATile, BTile, BN, In>(
                work.steps(), group * 64, shared, state,
                [&](int stage) RUNG_INLINE_LAMBDA { shared.release(stage); },
                []() RUNG_INLINE_LAMBDA {}, acc);
          });
          // store
          const cuda::OverlappingTile whole = tiles.at(tile);
          const std::int64_t row = whole.row + group * 64;
          const int skipped_rows = whole.skipped_rows - group * 64;
          if (work.splits > 1) {
            const unsigned mine = ptx::cluster_ctarank() * CONSUMERS + static_cast<unsigned>(group);
            const cuda::SplitKReduction<BN / 8, Scalar<Out>> sums(split_k.workspace, work,
                                                                  CLUSTER * CONSUMERS, mine);
            sums.store_rest(g, row, whole.col, acc, 1 + group, skipped_rows, whole.skipped_cols);
          } else {
            if (c_stages.is_read) [[unlikely]]
              add_c(g, group * 64, shared, state, acc);
            shared.Cs[group].store_rest(g, maps.c, row, whole.col, acc, 1 + group,
                                        c_stages.has_boxes, c_stages.scale, skipped_rows,
                                        whole.skipped_cols);
          }
        });
    shared.Cs[group].wait();
  }

  /// Turns the sums of rows [group_row, group_row + 64) into results that include beta * C.
  template <class In, class Out>
  static __device__ __forceinline__ void add_c(const Gemm<In, Out>& g, int group_row,
                                               Shared<In, Out>& shared,
                                               cuda::PipelineState<STAGES>& state,
                                               Scalar<Out> (&acc)[BN / 8][4]) {
    RUNG_UNROLL
    for (int c = 0; c < BN; c += cuda::staged_columns<Out>) {
      // sync: the boxes have arrived
      shared.wait_until_full(state);
      const In* const box = shared.As[state.stage] + group_row * BK<In>;
      cuda::add_staged_c(g, reinterpret_cast<const Out*>(box), c / 8, acc);
      shared.release(state.stage);
      state.advance();
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In, Out>), CLUSTER};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    using Sum = Scalar<Out>;
    const std::int64_t blocks = CLUSTER * cuda::tiles_of_c<CLUSTER * BM, BN>(g) * chosen.splits;
    return {.grid = {blocks},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Out>),
            .workspace_bytes = Scheduler<In>::template workspace_bytes<Sum>(blocks, chosen.splits),
            .workspace_bytes_per_block =
                Scheduler<In>::template workspace_bytes_per_block<Sum>(chosen.splits),
            .cluster = CLUSTER,
            .persistent = true,
            .starts_early = true,
            .a = cuda::short_map_of(g.a, g.m, g.k, Short::rows(g)),
            .b = cuda::short_map_of(g.b.transposed(), g.n, g.k, Short::cols(g) / CLUSTER),
            .c = cuda::TmaStoreEpilogue<BN, Out>::map(g)};
  }
};

//                               BM   BN  STAGES CLUSTER
using Neighbours = WgmmaTile<128, 256, 4, 2>;
using Large = WgmmaTile<128, 256, 4, 1>;
using WidePair = WgmmaTile<128, 192, 4, 2>;
using Wide = WgmmaTile<128, 192, 4, 1>;
using MediumPair = WgmmaTile<128, 128, 6, 2>;
using Medium = WgmmaTile<128, 128, 6, 1>;
using SmallPair = WgmmaTile<64, 128, 8, 2>;
using Small = WgmmaTile<64, 128, 8, 1>;
using Smaller = WgmmaTile<64, 64, 12, 1>;
using Tall = WgmmaTile<128, 64, 8, 1>;
using Flat = WgmmaTile<64, 256, 5, 1>;
using SmallWide = WgmmaTile<64, 192, 6, 1>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16 tf32 i8 e4m3 e5m2
RUNG_CUDA_GEMM_TILES(wgmma_tiles, (0, Medium, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (1, Wide, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (2, Tall, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (3, SmallPair, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (4, Small, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (5, Smaller, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (6, Large, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (7, Neighbours, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (8, WidePair, tf32, i8), (6, WidePair, e4m3, e5m2), (8, MediumPair, bf16, f16),
                     (9, Flat, bf16, f16), (10, SmallWide, bf16, f16),
                     (8, SmallWide, bf16_bf16, f16_f16))
}  // namespace rung
