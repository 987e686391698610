// gemm/cuda/split_f16: f32 on tensor cores: elements are scaled and split into two f16 halves, and
//   three products of halves per k-block are promoted to f32.
// from: wgmma_tiles | removes: the FMA pipe, which multiplies f32 at a tenth of the rate of tensor
//   cores | bottleneck: three products for one, and the pass that splits A and B
// needs: sm_90a | compute mode: split | try: rung bench gemm/cuda/fma_tiles gemm/cuda/split_f16
//   --device gpu --sizes 4096

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/scaled_sums.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/halves_load.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES, int CLUSTER>
struct SplitTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int BK = 64;  // rows of 128 bytes; sums are promoted once per k-block
  static constexpr int HALVES = 2;
  static_assert(BN / CLUSTER % 64 == 0, "boxes have 64 columns");
  using Scheduler = cuda::TileScheduler<BM, BN, BK, CLUSTER>;

  struct Shared {
    alignas(1024) float16 As[STAGES][HALVES][BM * BK];  // high, low
    alignas(1024) float16 Bs[STAGES][HALVES][BN * BK];
    cuda::TmaStoreEpilogue<BN> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads in the cluster are done
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::SplitK& split_k,
                                                const cuda::OperandScales& scales) {
    auto& shared = cuda::dynamic_shared<Shared>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CLUSTER * CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels, those that split A and B, have finished; their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, split_k, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, split_k, scales, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// One thread: loads each stage as soon as it is empty.
  static __device__ __forceinline__ void produce(const Gemm<float>& g, const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k, Shared& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    constexpr int PART = BN / CLUSTER;
    constexpr std::uint16_t all_blocks = CLUSTER == 1 ? 0 : (1 << CLUSTER) - 1;
    const int my_part = static_cast<int>(ptx::cluster_ctarank()) * PART;
    const Scheduler scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const int row = static_cast<int>(tile.row);
          const int col = static_cast<int>(tile.col) + my_part;
          for (std::int64_t k0 = work.k_begin; k0 < work.k_end; k0 += BK) {
            // sync: a stage that is empty in all blocks, as all are in the first round
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                      state.parity ^ 1);

            // load: this block's rows of A, and its part of B for all; the others' count here too
            const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
            const int k = static_cast<int>(k0);
            ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
            RUNG_UNROLL
            for (int half = 0; half < HALVES; ++half) {
              const auto which = static_cast<cuda::Half>(half);
              cuda::load_halves<BM>(0, ptx::cvta_to_shared(shared.As[state.stage][half]), maps.a,
                                    a_k_major, which, row, k, full);
              cuda::load_halves<PART>(
                  all_blocks, ptx::cvta_to_shared(&shared.Bs[state.stage][half][my_part * BK]),
                  maps.b, b_k_major, which, col, k, full);
            }
            state.advance();
          }
        });
  }

  /// One warpgroup: 64 rows of each tile.
  static __device__ __forceinline__ void consume(const Gemm<float>& g, const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 const cuda::OperandScales& scales,
                                                 Shared& shared) {
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    const Scheduler scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const std::int64_t row = tile.row + group * 64;
          float acc[BN / 8][4] = {};
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            multiply<A_K_MAJOR, B_K_MAJOR>(work.steps(), group * 64, shared, state, acc);
          });
          if (work.steps() > 0) {
            cuda::ScaledSums<BN / 8>::of_warpgroup(g, scales, work, row, tile.col).finish(acc);
          }

          // store
          if (work.splits > 1) {
            const unsigned mine = ptx::cluster_ctarank() * CONSUMERS + static_cast<unsigned>(group);
            const cuda::SplitKReduction<BN / 8> sums(split_k.workspace, work, CLUSTER * CONSUMERS,
                                                     mine);
            sums.store(g, row, tile.col, acc, 1 + group);
          } else {
            shared.Cs[group].store(g, maps.c, row, tile.col, acc, 1 + group);
          }
        });
    shared.Cs[group].wait();
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row, Shared& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  float (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // multiply: high x low, low x high, high x high, so that small products come first
      float sums[BN / 8][4];
      ptx::set_undefined(sums);
      ptx::wgmma_fence(sums);
      RUNG_UNROLL
      for (int product = 0; product < 3; ++product) {
        const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage][product == 1]);
        const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage][product == 0]);
        RUNG_UNROLL
        for (int k = 0; k < BK; k += 16) {
          ptx::wgmma_m64<float16, !A_K_MAJOR, !B_K_MAJOR>(sums, ATile::descriptor(a, group_row, k),
                                                          BTile::descriptor(b, 0, k),
                                                          product + k > 0);
        }
      }
      ptx::wgmma_commit_group();

      // sync: all reads of the stage are done
      ptx::wgmma_wait_group<0>(sums);
      const std::uint32_t empty = ptx::cvta_to_shared(&shared.empty[state.stage]);
      const std::uint32_t block = threadIdx.x % 32;
      if constexpr (CLUSTER == 1) {
        if (block == 0) ptx::mbarrier_arrive(empty);
      } else {
        if (block < CLUSTER) ptx::mbarrier_arrive_cluster(empty, block);
      }
      state.advance();

      // promote: tensor cores truncate sums, so they sum only one k-block
      RUNG_UNROLL
      for (int j = 0; j < BN / 8; ++j) {
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) acc[j][i] += sums[j][i];
      }
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared), CLUSTER};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t blocks = CLUSTER * cuda::tiles_of_c<CLUSTER * BM, BN>(g) * chosen.splits;
    return {.grid = {blocks},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .workspace_bytes = Scheduler::template workspace_bytes<float>(blocks, chosen.splits),
            .workspace_bytes_per_block =
                Scheduler::template workspace_bytes_per_block<float>(chosen.splits),
            .cluster = CLUSTER,
            .persistent = true,
            .starts_early = true,
            .a = cuda::halves_map_of(g.a, g.m, g.k, BM),
            .b = cuda::halves_map_of(g.b.transposed(), g.n, g.k, BN / CLUSTER),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

//                            BM   BN  STAGES CLUSTER
using Medium = SplitTile<128, 128, 3, 1>;
using MediumPair = SplitTile<128, 128, 3, 2>;
using Small = SplitTile<64, 128, 4, 1>;

}  // namespace

RUNG_CUDA_GEMM_TILES(split_f16, (0, Medium, f32), (1, MediumPair, f32), (2, Small, f32))

}  // namespace rung
