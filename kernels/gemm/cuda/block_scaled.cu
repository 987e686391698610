// gemm/cuda/block_scaled: block-scaled 8-bit elements: while tensor cores multiply 128 k-steps,
//   three warps load the scales of the next ones in the caller's layout; sums are scaled when they
//   are promoted.
// from: grouped | removes: one scale for a whole matrix, whose largest element costs all others
//   their precision | bottleneck: two sets of sums in registers, which limit the tile; the epilogue
//   of the widest one spills
// needs: sm_90a | try: rung bench gemm/cuda/wgmma_tiles gemm/cuda/block_scaled --device gpu --dtype
//   e4m3 --layout nt

#include "device/cuda/entry/block_scaled.cuh"
#include "device/cuda/epilogue/scaled_result.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tile_scales.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/descriptor_steps.cuh"
#include "device/cuda/tile/group_scheduler.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

/// In the first warpgroup, one warp loads tiles and three load scales. All other warps multiply.
template <int BM, int BN, int STAGES>
struct ScaledTile {
  using In = float8_e4m3;
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int BK = BlockScales::steps;
  static constexpr int LOADERS = 96;      // threads that load scales
  static constexpr int SCALE_STAGES = 2;  // of BLOCKS k-blocks each
  using RaggedGroups = void;
  using Tile = cuda::SwizzledTile<64, true, 1>;
  using Scales = cuda::TileScales<BM, BN>;
  static constexpr int BLOCKS = Scales::BLOCKS;

  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::TmaStoreEpilogue<BN, float> Cs[CONSUMERS];
    Scales scales[SCALE_STAGES];
    cuda::StageBarriers<STAGES, 1> tile_barriers;
    cuda::StageBarriers<SCALE_STAGES, 1> scale_barriers;
    cuda::GroupScheduler<BM, BN> scheduler;
  };

  static __device__ __forceinline__ void kernel(const Gemm<In, float>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::Products& products,
                                                const BlockScales& scales = {}) {
    auto& shared = cuda::dynamic_shared<Shared>();
    if (threadIdx.x == 0) {
      // The fence after the initialisation of the tiles' mbarriers covers these as well.
      for (int stage = 0; stage < SCALE_STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.scale_barriers.full[stage]), LOADERS);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.scale_barriers.empty[stage]), CONSUMERS * 4);
      }
      shared.tile_barriers.init(CONSUMERS * 4);
    }
    // sync: the barriers are initialised, for TMA too
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    shared.scheduler.prepare(g, products, THREADS);

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) load_tiles(g, maps, products, shared);
      if (threadIdx.x >= 32) load_scales(g, products, scales, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, products, scales, shared);
    }
  }

  /// One thread: loads tiles.
  static __device__ __forceinline__ void load_tiles(const Gemm<In, float>& g,
                                                    const cuda::TensorMaps& maps,
                                                    const cuda::Products& products,
                                                    Shared& shared) {
    cuda::PipelineState<STAGES> state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          for (int k0 = 0; k0 < tile.steps; k0 += BK) {
            const std::uint32_t full =
                shared.tile_barriers.expect(state, sizeof shared.As[0] + sizeof shared.Bs[0]);
            const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
            const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
            cuda::load_tile<BM>(a, maps.a, true, tile.a_row, k0, full);
            cuda::load_tile<BN>(b, maps.b, true, tile.b_col, k0, full);
            state.advance();
          }
        });
  }

  /// LOADERS threads: load scales.
  static __device__ __forceinline__ void load_scales(const Gemm<In, float>& g,
                                                     const cuda::Products& products,
                                                     const BlockScales& scales, Shared& shared) {
    cuda::PipelineState<SCALE_STAGES> state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          const int blocks = k_blocks(tile);
          cuda::ScaleLoader<BM, BN, LOADERS> loader(
              scales, static_cast<int>(threadIdx.x) - 32, scales.a + tile.a_row * scales.a_row,
              tile.rows, scales.b + tile.group * scales.b_group, tile.c_col, g.n, blocks);
          for (int block = 0; block < blocks; block += BLOCKS) {
            const std::uint32_t full = shared.scale_barriers.wait_until_empty(state);
            loader.copy_next(shared.scales[state.stage]);
            if (scales.a == nullptr) {
              ptx::mbarrier_arrive(full);
            } else {
              ptx::cp_async_mbarrier_arrive_noinc(full);
            }
            state.advance();
          }
        });
  }

  static __device__ __forceinline__ int k_blocks(const cuda::GroupTile& tile) {
    return (tile.steps + BK - 1) / BK;
  }

  /// One warpgroup: 64 rows of each tile.
  static __device__ __forceinline__ void consume(const Gemm<In, float>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Products& products,
                                                 const BlockScales& scales, Shared& shared) {
    // Broadcast from lane 0, so that the compiler knows that the warp does not diverge.
    const int group = static_cast<int>(ptx::shfl_idx(threadIdx.x / 128, 0)) - 1;
    const int group_row = group * 64;
    const cuda::DescriptorSteps a(
        Tile::descriptor(ptx::shfl_idx(ptx::cvta_to_shared(shared.As), 0), group_row, 0));
    const cuda::DescriptorSteps b(
        Tile::descriptor(ptx::shfl_idx(ptx::cvta_to_shared(shared.Bs), 0), 0, 0));
    cuda::PipelineState<STAGES> tile_state;
    cuda::PipelineState<SCALE_STAGES> scale_state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          float acc[BN / 8][4] = {};
          const int blocks = k_blocks(tile);
          int in_stage = 0;  // the k-block's index in its stage of scales
          for (int block = 0; block < blocks; ++block) {
            // sync: the tiles and scales have arrived
            shared.tile_barriers.wait_until_full(tile_state);
            if (in_stage == 0) shared.scale_barriers.wait_until_full(scale_state);
            // Rows outside C are multiplied as well: a branch here would make the kernel slower.
            multiply(shared, a, b, tile_state.stage, shared.scales[scale_state.stage], in_stage,
                     group_row, acc);
            tile_state.advance();
            if (++in_stage == BLOCKS || block == blocks - 1) {
              shared.scale_barriers.release(scale_state.stage);
              scale_state.advance();
              in_stage = 0;
            }
          }

          // store
          cuda::store_result(shared.Cs[group], g, maps.c, scales.to_bf16, tile.c_row + group_row,
                             tile.c_row + tile.rows, tile.c_col, acc, 1 + group);
        });
    shared.Cs[group].wait();
  }

  /// acc += a k-block of 64 rows of A times B, times the scales of both. Releases the stage.
  static __device__ __forceinline__ void multiply(Shared& shared, const cuda::DescriptorSteps& a,
                                                  const cuda::DescriptorSteps& b, int stage,
                                                  const Scales& scales, int block, int group_row,
                                                  float (&acc)[BN / 8][4]) {
    float sums[BN / 8][4];
    ptx::set_undefined(sums);
    ptx::wgmma_fence(sums);
    const auto in_ring = static_cast<std::uint32_t>(stage);
    RUNG_UNROLL
    for (int k = 0; k < BK; k += 32) {
      ptx::wgmma_m64<In, false, false>(sums, a.at(in_ring * sizeof shared.As[0] + k),
                                       b.at(in_ring * sizeof shared.Bs[0] + k), k > 0);
    }
    ptx::wgmma_commit_group();

    // load: scales, while tensor cores multiply
    const int row =
        group_row + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + cuda::accumulator_row();
    const float of_rows[] = {scales.of_row(row, block), scales.of_row(row + 8, block)};
    float of_cols[Scales::COLS];
    RUNG_UNROLL
    for (int c = 0; c < Scales::COLS; ++c) of_cols[c] = scales.of_cols(c, block);

    ptx::wgmma_wait_group<0>(sums);
    shared.tile_barriers.release(stage);
    RUNG_UNROLL
    for (int j = 0; j < BN / 8; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) acc[j][i] += of_rows[i / 2] * of_cols[j / 8] * sums[j][i];
    }
  }

  template <class, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared)};
  }

  static cuda::Launch launch(const Gemm<In, float>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }

  /// Chooses a tile. For ragged groups, m is the mean number of rows.
  static cuda::GemmConfig choose(const Gemm<In, float>& g, int multiprocessors) {
    constexpr cuda::ScaledTileCost costs[] = {
        {64, 64, 300}, {128, 64, 400}, {128, 128, 600}, {128, 192, 850}};
    return {.tile = cuda::fastest_tile(costs, g.m, g.n, multiprocessors)};
  }
};

//                         BM   BN  STAGES
using Smaller = ScaledTile<64, 64, 12>;
using Tall = ScaledTile<128, 64, 7>;
using Medium = ScaledTile<128, 128, 5>;
using Wide = ScaledTile<128, 192, 4>;

}  // namespace

RUNG_BLOCK_SCALED_TILES(block_scaled, (0, Smaller, e4m3), (1, Tall, e4m3), (2, Medium, e4m3),
                        (3, Wide, e4m3))

}  // namespace rung
