// gemm/cuda/31_dependent_launch: programmatic dependent launch, for all types of the tensor cores:
//   blocks start before the previous kernel has finished, then wait for its writes with
//   griddepcontrol.wait.
// from: 30_split_k | removes: most of the gap between two launches | bottleneck: power and, for
//   small results, the rest of the gap
// needs: sm_90a | try: rung bench gemm/cuda/30 gemm/cuda/31 --device gpu --dtype bf16 --sizes 1024

#include "device/cuda/entry/gemm.cuh"
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

template <class In>
constexpr int BK = 128 / sizeof(In);  // rows of a box have 128 bytes

template <int BM, int BN, int STAGES, int CLUSTER>
struct DependentTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int PRODUCER_REGISTERS = 40;
  static constexpr int CONSUMER_REGISTERS = 232;
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static_assert(BN / CLUSTER % 64 == 0, "a TMA box of an MN-major B is 64 columns wide");

  template <class In>
  using Scheduler = cuda::TileScheduler<BM, BN, BK<In>, CLUSTER>;

  template <class In, class Out>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK<In>];
    alignas(1024) In Bs[STAGES][BN * BK<In>];
    cuda::TmaStoreEpilogue<BN, Out> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads in the cluster are done
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::SplitK& split_k) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CLUSTER * CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    ptx::barrier_cluster_arrive_wait();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<PRODUCER_REGISTERS>();
      if (threadIdx.x == 0) produce(g, maps, split_k, shared);
    } else {
      ptx::setmaxnreg_inc<CONSUMER_REGISTERS>();
      consume(g, maps, split_k, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// Calls f(work, tile) for each work tile of this block.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_tiles(const Gemm<In, Out>& g,
                                                   const cuda::SplitK& split_k, const F& f) {
    const Scheduler<In> scheduler(g, split_k.splits);
    scheduler.for_each(g, GROUP, f);
  }

  /// One thread: issues the loads of each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 Shared<In, Out>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    constexpr int PART = BN / CLUSTER;
    constexpr std::uint16_t ALL = (1 << CLUSTER) - 1;
    const int my_part = static_cast<int>(ptx::cluster_ctarank()) * PART;
    cuda::PipelineState<STAGES> state;
    for_tiles(g, split_k, [&](const auto& work, const auto& tile) RUNG_INLINE_LAMBDA {
      const int row = static_cast<int>(tile.row);
      const int col = static_cast<int>(tile.col);
      for (std::int64_t k0 = work.k_begin; k0 < work.k_end; k0 += BK<In>) {
        // sync: a stage that is empty in all blocks. In the first round all are: what a barrier
        // has before its first phase counts as a phase that has ended.
        ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                  state.parity ^ 1);

        // load: this block's rows of A, and its part of B for all; the others' count here too
        const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
        const int k = static_cast<int>(k0);
        ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
        cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major, row, k,
                            full);
        const std::uint32_t b = ptx::cvta_to_shared(&shared.Bs[state.stage][my_part * BK<In>]);
        if constexpr (CLUSTER == 1) {
          cuda::load_tile<BN>(b, maps.b, b_k_major, col, k, full);
        } else {
          cuda::load_tile_multicast<PART>(ALL, b, maps.b, b_k_major, col + my_part, k, full);
        }
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
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    const int group_row = group * 64;
    cuda::PipelineState<STAGES> state;
    for_tiles(g, split_k, [&](const auto& work, const auto& tile) RUNG_INLINE_LAMBDA {
      Scalar<Out> acc[BN / 8][4] = {};
      cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
        multiply<A_K_MAJOR, B_K_MAJOR>(work.steps(), group_row, shared, state, acc);
      });

      // store
      if (work.splits > 1) {
        const unsigned mine = ptx::cluster_ctarank() * CONSUMERS + static_cast<unsigned>(group);
        const cuda::SplitKReduction<BN / 8, Scalar<Out>> sums(split_k.workspace, work,
                                                              CLUSTER * CONSUMERS, mine);
        sums.store(g, tile.row + group_row, tile.col, acc, 1 + group);
      } else {
        shared.Cs[group].store(g, maps.c, tile.row + group_row, tile.col, acc, 1 + group);
      }
    });
    shared.Cs[group].wait();
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row,
                                                  Shared<In, Out>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  Scalar<Out> (&acc)[BN / 8][4]) {
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
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      if constexpr (cuda::is_promoted<In>) {  // sums of 8-bit floats have few bits
        cuda::add_promoted<ATile, BTile, In>(a, b, group_row, acc);
        release(state.stage);
        state.advance();
        continue;
      }
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK<In>; k += 32 / sizeof(In)) {
        ptx::wgmma_m64<In, !A_K_MAJOR, !B_K_MAJOR>(acc, ATile::descriptor(a, group_row, k),
                                                   BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > 0) release(before);
      before = state.stage;
      state.advance();
    }
    if constexpr (cuda::is_promoted<In>) return;
    ptx::wgmma_wait_group<0>(acc);
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
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN / CLUSTER),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

//                            BM   BN  STAGES CLUSTER
using Large = DependentTile<128, 256, 4, 1>;
using Medium = DependentTile<128, 128, 6, 1>;
using SmallPair = DependentTile<64, 128, 8, 2>;
using Smaller = DependentTile<64, 64, 12, 1>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16 tf32 i8 e4m3 e5m2
RUNG_CUDA_GEMM_TILES(31_dependent_launch, (0, Large, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (1, Medium, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (2, SmallPair, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (3, Smaller, bf16, f16, bf16_bf16, f16_f16, tf32, i8), (0, Medium, e4m3, e5m2),
                     (1, SmallPair, e4m3, e5m2), (2, Smaller, e4m3, e5m2))

}  // namespace rung
