// gemm/cuda/33_ping_pong: each consumer warpgroup has a tile of its own, so that one stores its
//   results while the other multiplies; blocks that share a tile add up through distributed shared
//   memory.
// from: 31_dependent_launch | removes: idle tensor cores in the epilogue | bottleneck: power and, for
//   few tiles, the loads of the first k-blocks
// needs: sm_90a | try: rung bench gemm/cuda/31 gemm/cuda/33 --device gpu --dtype bf16 --sizes 4096x4096x512

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/cluster_reduction.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES, int CLUSTER, int TILES = 1>
struct PingPongTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;      // rows of tiles that go together
  static constexpr int WM = TILES == 1 ? 64 : BM;      // rows of a consumer
  static constexpr int SHARERS = BM / WM;              // consumers of a tile
  static constexpr int CONSUMERS = TILES * SHARERS;    // warpgroups
  static constexpr int PARTS = WM / 64;                // of a consumer, each one wgmma high
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  template <class In>
  static constexpr int BK = 128 / sizeof(In);  // lines of 128 bytes
  template <class In>
  using Scheduler = cuda::TileScheduler<BM, BN, 128 / sizeof(In), CLUSTER>;

  template <class In, class Out>
  struct Shared {
    static_assert(cuda::requires_k_major<In> || BN / CLUSTER % 64 == 0, "boxes have 64 columns");
    alignas(1024) In As[STAGES][BM * BK<In>];
    alignas(1024) In Bs[STAGES][BN * BK<In>];
    cuda::TmaStoreEpilogue<BN, Out> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // barriers: the tiles are there
    std::uint64_t empty[STAGES];  // nobody in the cluster reads them any more
    std::uint64_t turn[TILES];    // the consumer before has seen all stages of its tile
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::SplitK& split_k) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CLUSTER * SHARERS * 4);
      }
      for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::cvta_to_shared(&turn), 1);
      ptx::fence_mbarrier_init();
    }
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    const bool adds_up = CLUSTER == 1 && ptx::cluster_nctarank() > 1;
    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x == 0) produce(g, maps, split_k, shared);
      if (adds_up) ptx::barrier_cluster_arrive_wait();
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, split_k, shared);
      // sync: all blocks of the cluster have written their partial sums
      if (adds_up) ptx::barrier_cluster_arrive_wait();
      if (adds_up) add_up(g, split_k, shared);
    }

    // sync: no block exits while another may still signal its mbarriers, or read its sums
    ptx::barrier_cluster_arrive_wait();
  }

  /// One thread: brings each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 Shared<In, Out>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    constexpr int PART = BN / CLUSTER;
    const int my_part = CLUSTER == 1 ? 0 : static_cast<int>(ptx::cluster_ctarank()) * PART;
    const Scheduler<In> scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const int row = static_cast<int>(tile.row);
          const int col = static_cast<int>(tile.col);
          for (std::int64_t k0 = work.k_begin; k0 < work.k_end; k0 += BK<In>) {
            // sync: a stage that is empty in all blocks, as all are in the first round
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                      state.parity ^ 1);

            // load: this block's rows of A, and its part of B for all; the others' count here too
            const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
            const int k = static_cast<int>(k0);
            ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
            cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major, row,
                                k, full);
            const std::uint32_t b = ptx::cvta_to_shared(&shared.Bs[state.stage][my_part * BK<In>]);
            if constexpr (CLUSTER == 1) {
              cuda::load_tile<BN>(b, maps.b, b_k_major, col, k, full);
            } else {
              cuda::load_tile_multicast<PART>((1 << CLUSTER) - 1, b, maps.b, b_k_major,
                                              col + my_part, k, full);
            }
            state.advance();
          }
        });
  }

  /// One warpgroup: WM rows of every TILES-th tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 Shared<In, Out>& shared) {
    using Sum = Scalar<Out>;
    const int consumer = static_cast<int>(threadIdx.x) / 128 - 1;
    const int mine = consumer % SHARERS;
    const Scheduler<In> scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    int others = consumer / SHARERS;  // tiles until this consumer's next one
    std::uint32_t parity = others == 0;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          if (others-- > 0) return state.skip(work.steps() / BK<In>);
          others = TILES - 1;
          if constexpr (TILES > 1) {
            // sync: a stage has no more than one phase to wait for
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.turn[consumer]), parity);
            parity ^= 1;
          }
          Sum acc[PARTS][BN / 8][4] = {};
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            multiply<A_K_MAJOR, B_K_MAJOR>(work.steps(), mine * WM, shared, state, acc);
          });

          // store
          const std::int64_t row = tile.row + mine * WM;
          RUNG_UNROLL
          for (int part = 0; part < PARTS; ++part) {
            const unsigned group = static_cast<unsigned>(mine * PARTS + part);
            if (work.splits == 1) {
              shared.Cs[consumer].store(g, maps.c, row + part * 64, tile.col, acc[part],
                                        1 + consumer);
            } else if (CLUSTER == 1 && ptx::cluster_nctarank() > 1) {
              // sync: no consumer reads the stages any more
              if (part == 0) ptx::bar_sync(8, SHARERS * 128);
              cuda::ClusterReduction<BN / 8, Sum>(g, &shared, group, row + part * 64, tile.col)
                  .put(acc[part]);
            } else {
              const cuda::SplitKReduction<BN / 8, Sum> sums(
                  split_k.workspace, work, CLUSTER * BM / 64,
                  ptx::cluster_ctarank() * (BM / 64) + group);
              sums.store(g, row + part * 64, tile.col, acc[part], 1 + consumer);
            }
          }
        });
    shared.Cs[consumer].wait();
  }

  /// One warpgroup, where the blocks of the cluster have parts of one tile: adds up its share.
  template <class In, class Out>
  static __device__ __forceinline__ void add_up(const Gemm<In, Out>& g, const cuda::SplitK& split_k,
                                                Shared<In, Out>& shared) {
    const unsigned group = threadIdx.x / 128 - 1;
    if (group >= BM / 64) return;
    const Scheduler<In> scheduler(g, split_k.splits);
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile&, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          cuda::ClusterReduction<BN / 8, Scalar<Out>>(g, &shared, group, tile.row + group * 64,
                                                      tile.col)
              .store(g);
        });
  }

  /// acc += WM rows of A, from group_row of the tile on, times B's columns.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row,
                                                  Shared<In, Out>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  Scalar<Out> (&acc)[PARTS][BN / 8][4]) {
    using ATile = cuda::SwizzledTile<BM, A_K_MAJOR, sizeof(In)>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR, sizeof(In)>;
    const auto release = [&](int stage) {
      const std::uint32_t block = threadIdx.x % 32;
      const std::uint32_t empty = ptx::cvta_to_shared(&shared.empty[stage]);
      if constexpr (CLUSTER == 1) {
        if (block == 0) ptx::mbarrier_arrive(empty);
      } else {
        if (block < CLUSTER) ptx::mbarrier_arrive_cluster(empty, block);
      }
    };

    int before = 0;
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK<In>) {
      // sync: the tiles are there
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      if constexpr (cuda::is_promoted<In>) {
        cuda::add_promoted<ATile, BTile, In>(a, b, group_row, acc[0]);
        release(state.stage);
        state.advance();
        continue;
      }
      RUNG_UNROLL
      for (int part = 0; part < PARTS; ++part) ptx::wgmma_fence(acc[part]);
      RUNG_UNROLL
      for (int k = 0; k < BK<In>; k += 32 / sizeof(In)) {
        RUNG_UNROLL
        for (int part = 0; part < PARTS; ++part) {
          ptx::wgmma_m64<In, !A_K_MAJOR, !B_K_MAJOR>(
              acc[part], ATile::descriptor(a, group_row + part * 64, k), BTile::descriptor(b, 0, k));
        }
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      RUNG_UNROLL
      for (int part = 0; part < PARTS; ++part) ptx::wgmma_wait_group<1>(acc[part]);
      if (k0 > 0) release(before);
      before = state.stage;
      state.advance();
    }
    if (TILES > 1 && threadIdx.x % 128 == 0) {
      ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.turn[threadIdx.x < 256]));
    }
    if constexpr (cuda::is_promoted<In>) return;
    RUNG_UNROLL
    for (int part = 0; part < PARTS; ++part) ptx::wgmma_wait_group<0>(acc[part]);
    if (steps > 0) release(before);
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
            .cluster_of_parts = CLUSTER == 1 && chosen.splits <= 8 ? chosen.splits : 1,
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN / CLUSTER),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

//                             BM   BN  STAGES CLUSTER TILES
using AloneNeighbours = PingPongTile<128, 256, 4, 2>;
using AloneLarge = PingPongTile<128, 256, 4, 1>;
using AloneWide = PingPongTile<128, 192, 4, 1>;
using AloneMediumPair = PingPongTile<128, 128, 6, 2>;
using AloneMedium = PingPongTile<128, 128, 6, 1>;
using AloneSmallPair = PingPongTile<64, 128, 8, 2>;
using AloneSmall = PingPongTile<64, 128, 8, 1>;
using AloneSmaller = PingPongTile<64, 64, 12, 1>;
using AloneTall = PingPongTile<128, 64, 8, 1>;
using PingFlat = PingPongTile<64, 256, 4, 1, 2>;
using PingFlatPair = PingPongTile<64, 256, 4, 2, 2>;
using PingMedium = PingPongTile<128, 128, 6, 1, 2>;
using PingMediumPair = PingPongTile<128, 128, 6, 2, 2>;
using PingSmall = PingPongTile<64, 128, 8, 1, 2>;
using PingSmallPair = PingPongTile<64, 128, 8, 2, 2>;

}  // namespace

// compiled by type: bf16 bf16_bf16
RUNG_CUDA_GEMM_TILES(33, ping_pong,
                     (0, AloneMedium, bf16, bf16_bf16), (1, AloneWide, bf16, bf16_bf16),
                     (2, AloneTall, bf16, bf16_bf16), (3, AloneSmallPair, bf16, bf16_bf16),
                     (4, AloneSmall, bf16, bf16_bf16), (5, AloneSmaller, bf16, bf16_bf16),
                     (6, AloneLarge, bf16, bf16_bf16), (7, AloneNeighbours, bf16, bf16_bf16),
                     (8, AloneMediumPair, bf16, bf16_bf16), (9, PingFlat, bf16, bf16_bf16),
                     (10, PingFlatPair, bf16, bf16_bf16), (11, PingMedium, bf16, bf16_bf16),
                     (12, PingMediumPair, bf16, bf16_bf16), (13, PingSmall, bf16, bf16_bf16),
                     (14, PingSmallPair, bf16, bf16_bf16))

}  // namespace rung
