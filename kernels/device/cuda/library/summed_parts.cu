// Products with a long k for mode batch_invariant, with the summation order of
// tile/invariant_parts.hpp: wgmma_tiles with a different split-K and without clusters. Registers hold
// the sums of the current part and of all previous parts, so tiles have at most 192 columns.
// Several blocks may share the parts of tiles in the last wave. Registered like a rung, but not on
// the ladder.
// bottleneck: power; the last wave
// needs: sm_90a

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/invariant_sums.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES>
struct SummedTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;  // warpgroups
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int BK = 64;
  static constexpr int J = BN / 8;
  using Scheduler = cuda::TileScheduler<BM, BN, BK>;

  template <class In, class Out>
  struct Shared : cuda::StageBarriers<STAGES, 1> {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::TmaStoreEpilogue<BN, Out> Cs[CONSUMERS];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::SplitK& split_k) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) shared.init(CONSUMERS * 4);
    // sync: the barriers are initialized
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
  }

  /// One thread: loads each stage as soon as it is empty. The parts of k are consecutive.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k,
                                                 Shared<In, Out>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    cuda::PipelineState<STAGES> state;
    const Scheduler scheduler(g, split_k.splits);
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const int row = static_cast<int>(tile.row), col = static_cast<int>(tile.col);
          for (int k = static_cast<int>(work.k_begin); k < work.k_end; k += BK) {
            // load
            const std::uint32_t full =
                shared.expect(state, sizeof shared.As[0] + sizeof shared.Bs[0]);
            cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major, row,
                                k, full);
            cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, b_k_major, col,
                                k, full);
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
    const Scheduler scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          float total[J][4] = {};
          const auto add = [&](int begin, int end, float(&sums)[J][4]) RUNG_INLINE_LAMBDA {
            multiply(g, end - begin, group * 64, shared, state, sums);
          };
          cuda::sum_parts(static_cast<int>(work.k_begin), static_cast<int>(work.k_end), g.k, total,
                          add);

          // store
          if (work.splits > 1) {
            const auto mine = static_cast<unsigned>(group);
            const cuda::SplitKReduction<J> sums(split_k.workspace, work, CONSUMERS, mine);
            sums.store(g, tile.row + group * 64, tile.col, total, 1 + group);
          } else {
            shared.Cs[group].store(g, maps.c, tile.row + group * 64, tile.col, total, 1 + group);
          }
        });
    shared.Cs[group].wait();
  }

  /// acc += 64 rows of A, from group_row of the tile, times B's columns, over the next `steps`
  /// k-steps.
  template <class In, class Out>
  static __device__ __forceinline__ void multiply(const Gemm<In, Out>& g, int steps, int group_row,
                                                  Shared<In, Out>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  float (&acc)[J][4]) {
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
      using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
      cuda::multiply_stages<ATile, BTile, BN, In>(
          steps, group_row, shared, state,
          [&](int stage) RUNG_INLINE_LAMBDA { shared.release(stage); }, []() RUNG_INLINE_LAMBDA {},
          acc);
    });
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared<In, Out>)};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t blocks = cuda::tiles_of_c<BM, BN>(g) * chosen.splits;
    return {.grid = {blocks},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Out>),
            .workspace_bytes = Scheduler::template workspace_bytes<float>(blocks, chosen.splits),
            .workspace_bytes_per_block =
                Scheduler::template workspace_bytes_per_block<float>(chosen.splits),
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

//                        BM   BN  STAGES
using Wide = SummedTile<128, 192, 4>;
using Medium = SummedTile<128, 128, 6>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16
RUNG_CUDA_GEMM_TILES(library_summed_parts, (0, Wide, bf16, f16, bf16_bf16, f16_f16),
                     (1, Medium, bf16, f16, bf16_bf16, f16_f16))

}  // namespace rung
