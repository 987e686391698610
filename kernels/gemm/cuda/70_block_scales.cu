// gemm/cuda/70_block_scales: scales of blocks of 8-bit elements: while tensor cores multiply 128
//   steps, three warps load their scales, in the caller's layout; sums are scaled when promoted.
// from: 63_grouped | removes: a scale for a whole matrix, whose largest element takes the precision
//   of all others | bottleneck: sums twice in registers, which limit the tile; where it stores
//   results, the widest one spills some
// needs: sm_90a | try: rung bench gemm/cuda/31 gemm/cuda/70 --device gpu --dtype e4m3 --layout nt

#include "device/cuda/entry/block_scaled.cuh"
#include "device/cuda/epilogue/scaled_result.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tile_scales.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/group_scheduler.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

/// Of the first warpgroup, one warp loads tiles, the others scales. All other warps multiply.
template <int BM, int BN, int STAGES>
struct ScaledTile {
  using In = float8_e4m3;
  static constexpr unsigned GROUP = 8 * 128 / BM;  // rows of tiles that go together
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int BK = BlockScales::steps;
  static constexpr int LOADERS = 96;  // threads that load scales
  using RaggedGroups = void;
  using Tile = cuda::SwizzledTile<64, true, 1>;

  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::TmaStoreEpilogue<BN, float> Cs[CONSUMERS];
    cuda::TileScales<BM, BN> scales[STAGES];
    std::uint64_t full[STAGES];   // barriers: the tiles and scales are there
    std::uint64_t empty[STAGES];  // nobody reads them any more
    cuda::GroupScheduler<BM, BN> scheduler;
  };

  static __device__ __forceinline__ void kernel(const Gemm<In, float>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::Products& products,
                                                const BlockScales& scales = {}) {
    auto& shared = cuda::dynamic_shared<Shared>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1 + LOADERS);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    // sync: the barriers are initialised, for TMA too
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    shared.scheduler.prepare(g, products, THREADS);

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x == 0) load_tiles(g, maps, products, shared);
      if (threadIdx.x >= 32) load_scales(g, products, scales, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, products, scales, shared);
    }
  }

  /// One thread.
  static __device__ __forceinline__ void load_tiles(const Gemm<In, float>& g,
                                                    const cuda::TensorMaps& maps,
                                                    const cuda::Products& products,
                                                    Shared& shared) {
    cuda::PipelineState<STAGES> state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          for (int k0 = 0; k0 < tile.steps; k0 += BK) {
            wait_until_empty(shared, state);
            const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
            const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
            const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
            ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
            cuda::load_tile<BM>(a, maps.a, true, tile.a_row, k0, full);
            cuda::load_tile<BN>(b, maps.b, true, tile.b_col, k0, full);
            state.advance();
          }
        });
  }

  /// LOADERS threads.
  static __device__ __forceinline__ void load_scales(const Gemm<In, float>& g,
                                                     const cuda::Products& products,
                                                     const BlockScales& scales, Shared& shared) {
    cuda::PipelineState<STAGES> state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          cuda::ScaleLoader<BM, BN, LOADERS> loader(
              scales, static_cast<int>(threadIdx.x) - 32, scales.a + tile.a_row * scales.a_row,
              tile.rows, scales.b + tile.group * scales.b_group, tile.c_col, g.n);
          for (int k0 = 0; k0 < tile.steps; k0 += BK) {
            wait_until_empty(shared, state);
            loader.copy_next(shared.scales[state.stage]);
            const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
            if (scales.a == nullptr) {
              ptx::mbarrier_arrive(full);
            } else {
              ptx::cp_async_mbarrier_arrive_noinc(full);
            }
            state.advance();
          }
        });
  }

  /// sync: a stage that nobody reads, as all are in the first round
  static __device__ __forceinline__ void wait_until_empty(
      Shared& shared, const cuda::PipelineState<STAGES>& state) {
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]), state.parity ^ 1);
  }

  /// One warpgroup: 64 rows of each tile.
  static __device__ __forceinline__ void consume(const Gemm<In, float>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Products& products,
                                                 const BlockScales& scales, Shared& shared) {
    // From lane 0: so the compiler knows that a warp does not diverge.
    const int group = static_cast<int>(ptx::shfl_idx(threadIdx.x / 128, 0)) - 1;
    const int group_row = group * 64;
    cuda::PipelineState<STAGES> state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          float acc[BN / 8][4] = {};
          for (int k0 = 0; k0 < tile.steps; k0 += BK) {
            // sync: the tiles and scales are there
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);
            if (group_row < tile.rows) multiply(shared, state.stage, group_row, acc);
            if (threadIdx.x % 32 == 0) {
              ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.empty[state.stage]));
            }
            state.advance();
          }

          // store
          cuda::store_result(shared.Cs[group], g, maps.c, scales.to_bf16, tile.c_row + group_row,
                             tile.c_row + tile.rows, tile.c_col, acc, 1 + group);
        });
    shared.Cs[group].wait();
  }

  /// acc += a k-block of 64 rows of A times B's columns, times the scales of both.
  static __device__ __forceinline__ void multiply(const Shared& shared, int stage, int group_row,
                                                  float (&acc)[BN / 8][4]) {
    float sums[BN / 8][4];
    ptx::set_undefined(sums);
    ptx::wgmma_fence(sums);
    RUNG_UNROLL
    for (int k = 0; k < BK; k += 32) {
      ptx::wgmma_m64<In, false, false>(
          sums, Tile::descriptor(ptx::cvta_to_shared(shared.As[stage]), group_row, k),
          Tile::descriptor(ptx::cvta_to_shared(shared.Bs[stage]), 0, k), k > 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(sums);
    const cuda::TileScales<BM, BN>& scales = shared.scales[stage];
    const int row =
        group_row + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + cuda::accumulator_row();
    const float of_rows[] = {scales.of_row(row), scales.of_row(row + 8)};
    RUNG_UNROLL
    for (int j = 0; j < BN / 8; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        acc[j][i] += of_rows[i / 2] * scales.of_cols(j * 8) * sums[j][i];
      }
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

  /// In the order of the tiles' numbers. Of groups, m is the mean of their rows.
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

RUNG_BLOCK_SCALED_TILES(70, block_scales, (0, Smaller, e4m3), (1, Tall, e4m3), (2, Medium, e4m3),
                        (3, Wide, e4m3))

}  // namespace rung
