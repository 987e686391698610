// gemm/cuda/33_ping_pong: ping-pong consumers: each consumer warpgroup has a tile of its own, and
//   stores its results while the other one multiplies.
// from: 31_dependent_launch | removes: idle tensor cores while results are stored | bottleneck:
//   power and, where tiles are few or small, the bandwidth of L2 and of shared memory
// needs: sm_90a | try: rung bench gemm/cuda/31 gemm/cuda/33 --device gpu --sizes 4096x4096x512

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_stages.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES, int CLUSTER, int TILES = 1>
struct PingPongTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;    // rows of tiles that go together
  static constexpr int WM = TILES == 1 ? 64 : BM;    // rows of a consumer
  static constexpr int SHARERS = BM / WM;            // consumers of a tile
  static constexpr int CONSUMERS = TILES * SHARERS;  // warpgroups
  static constexpr int PARTS = WM / 64;              // of a consumer, each one wgmma high
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

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      const Scheduler<In> scheduler(g, split_k.splits);
      if (threadIdx.x == 0) {
        cuda::load_stages<BM, BN, STAGES, CLUSTER>(g, maps, scheduler, GROUP, shared);
      }
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, split_k, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// One warpgroup: WM rows of each tile, or of every other one.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 Shared<In, Out>& shared) {
    const int consumer = static_cast<int>(threadIdx.x) / 128 - 1;
    const int tile_row = consumer % SHARERS * WM;
    const Scheduler<In> scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    int others = consumer / SHARERS;  // tiles until this consumer's next one
    std::uint32_t turn_parity = others == 0;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          if (others-- > 0) return state.skip(work.steps() / BK<In>);
          others = TILES - 1;
          // Ready to multiply before its turn comes: tensor cores would wait for these zeros.
          Scalar<Out> acc[PARTS][BN / 8][4] = {};
          ptx::wgmma_fence(acc);
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            if constexpr (TILES > 1) wait_for_turn(shared, turn_parity);
            multiply<A_K_MAJOR, B_K_MAJOR>(work.steps(), tile_row, shared, state, acc);
          });
          turn_parity ^= 1;

          // store
          RUNG_UNROLL
          for (int part = 0; part < PARTS; ++part) {
            const int row = tile_row + part * 64;
            if (work.splits > 1) {
              const unsigned mine = (ptx::cluster_ctarank() * BM + static_cast<unsigned>(row)) / 64;
              const cuda::SplitKReduction<BN / 8, Scalar<Out>> sums(split_k.workspace, work,
                                                                    CLUSTER * BM / 64, mine);
              sums.store(g, tile.row + row, tile.col, acc[part], 1 + consumer);
            } else {
              shared.Cs[consumer].store(g, maps.c, tile.row + row, tile.col, acc[part],
                                        1 + consumer);
            }
          }
        });
    shared.Cs[consumer].wait();
  }

  /// Until the other consumer has seen all stages of the tile before: a wait for a stage must not be
  /// two phases ahead.
  template <class Shared>
  static __device__ __forceinline__ void wait_for_turn(Shared& shared, std::uint32_t parity) {
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.turn[threadIdx.x / 256]), parity);
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
        static_assert(TILES == 1, "one that adds lets the other one multiply");
        cuda::add_promoted<ATile, BTile, In>(a, b, group_row, acc[0]);
        release(state.stage);
        state.advance();
        continue;
      }
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK<In>; k += 32 / sizeof(In)) {
        RUNG_UNROLL
        for (int part = 0; part < PARTS; ++part) {
          ptx::wgmma_m64<In, !A_K_MAJOR, !B_K_MAJOR>(acc[part],
                                                     ATile::descriptor(a, group_row + part * 64, k),
                                                     BTile::descriptor(b, 0, k));
        }
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > 0) release(before);
      before = state.stage;
      state.advance();
    }
    if (TILES > 1 && threadIdx.x % 128 == 0) {
      ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.turn[threadIdx.x < 256 ? 1 : 0]));
    }
    if constexpr (cuda::is_promoted<In>) return;
    ptx::wgmma_wait_group<0>(acc);
    if (steps > 0) release(before);
  }

  /// Whether a row of a box is one line of L2. Packed operands have such rows.
  template <class In, class Out>
  static constexpr bool has_fast_copies(const Gemm<In, Out>& g) {
    const auto a = cuda::tensor_map_of_a(g, BM), b = cuda::tensor_map_of_b(g, BN);
    return (!a.is_aligned() || a.ld * a.element_bytes % 128 == 0) &&
           (!b.is_aligned() || b.ld * b.element_bytes % 128 == 0);
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In, Out>), CLUSTER, 0, 0, 1, 1, false, TILES};
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
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN / CLUSTER),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

//                                  BM   BN  STAGES CLUSTER TILES
using SharedMedium = PingPongTile<128, 128, 6, 1>;
using SharedWide = PingPongTile<128, 192, 4, 1>;
using SharedTall = PingPongTile<128, 64, 8, 1>;
using SharedLarge = PingPongTile<128, 256, 4, 1>;
using SharedNeighbours = PingPongTile<128, 256, 4, 2>;
using SharedMediumPair = PingPongTile<128, 128, 6, 2>;
using SoleSmallPair = PingPongTile<64, 128, 8, 2>;
using SoleSmall = PingPongTile<64, 128, 8, 1>;
using SoleSmaller = PingPongTile<64, 64, 12, 1>;
using PingFlat = PingPongTile<64, 256, 4, 1, 2>;
using PingMedium = PingPongTile<128, 128, 6, 1, 2>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16 tf32 i8 e4m3 e5m2
RUNG_CUDA_GEMM_TILES(33, ping_pong,
                     (0, SharedMedium, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (1, SharedWide, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (2, SharedTall, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (3, SoleSmallPair, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (4, SoleSmall, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (5, SoleSmaller, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (6, SharedLarge, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (7, SharedNeighbours, bf16, f16, bf16_bf16, f16_f16),
                     (8, SharedMediumPair, bf16, f16, bf16_bf16, f16_f16),
                     (9, PingFlat, bf16, f16, bf16_bf16, f16_f16),
                     (10, PingMedium, bf16, f16, bf16_bf16, f16_f16))

}  // namespace rung
