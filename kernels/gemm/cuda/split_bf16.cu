// gemm/cuda/split_bf16: bf16 by f32 on tensor cores: each f32 is the sum of three bf16 parts, so
//   its product is exact; three products of parts per k-block are promoted to f32.
// from: split_f16 | removes: halves of the operand that is bf16 already, which TMA reads in place,
//   and scales, because the parts have the range of f32 | bottleneck: three products for one, and
//   the pass that splits the other operand
// needs: sm_90a | compute mode: split | try: rung bench gemm/cuda/wgmma_tiles gemm/cuda/split_bf16
//   --device gpu --dtype bf16 --sizes 4096

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/part_sums.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/parts_load.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung {
namespace {

/// PARTS_A and PARTS_B: 3 for the operand of floats, which g declares as bfloat16, and 1 for the
/// other one. If both are bfloat16, one of them has been widened to floats.
template <int BM, int BN, int STAGES, int PARTS_A, int PARTS_B>
struct PartTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int BK = 64;  // rows of 128 bytes; sums are promoted once per k-block
  static constexpr int PARTS = PARTS_A > PARTS_B ? PARTS_A : PARTS_B;
  static_assert(PARTS_A * PARTS_B == PARTS && PARTS == cuda::SplitParts::parts);
  using Scheduler = cuda::TileScheduler<BM, BN, BK>;

  struct Shared {
    alignas(1024) bfloat16 As[STAGES][PARTS_A][BM * BK];  // the high part first
    alignas(1024) bfloat16 Bs[STAGES][PARTS_B][BN * BK];
    cuda::TmaStoreEpilogue<BN> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads of them are done
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
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    // sync: the barriers are initialised, for TMA too
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels, including the one that splits, have finished; their writes are
    // visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, split_k, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, split_k, scales, shared);
    }
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k, Shared& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const Scheduler scheduler(g, split_k.splits);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const int row = static_cast<int>(tile.row);
          const int col = static_cast<int>(tile.col);
          for (std::int64_t k0 = work.k_begin; k0 < work.k_end; k0 += BK) {
            // sync: a stage that is empty, as all are in the first round
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                      state.parity ^ 1);

            // load
            const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
            const int k = static_cast<int>(k0);
            ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
            RUNG_UNROLL
            for (int part = 0; part < PARTS_A; ++part) {
              cuda::load_part<PARTS_A, BM>(0, ptx::cvta_to_shared(shared.As[state.stage][part]),
                                           maps.a, a_k_major, part, row, k, full);
            }
            RUNG_UNROLL
            for (int part = 0; part < PARTS_B; ++part) {
              cuda::load_part<PARTS_B, BN>(0, ptx::cvta_to_shared(shared.Bs[state.stage][part]),
                                           maps.b, b_k_major, part, col, k, full);
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
                                                 const cuda::OperandScales& scales,
                                                 Shared& shared) {
    const cuda::PartSums<PARTS_A == 1> part_sums{g, scales};
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
          if (work.steps() > 0) part_sums.finish(work, row, tile.col, acc);

          // store
          if (work.splits > 1) {
            const cuda::SplitKReduction<BN / 8> sums(split_k.workspace, work, CONSUMERS,
                                                     static_cast<unsigned>(group));
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

      // multiply: by the low, the middle and the high part, so that small products come first
      float sums[BN / 8][4];
      ptx::set_undefined(sums);
      ptx::wgmma_fence(sums);
      RUNG_UNROLL
      for (int part = PARTS - 1; part >= 0; --part) {
        const int of_a = PARTS_A == 1 ? 0 : part;
        const int of_b = PARTS_B == 1 ? 0 : part;
        const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage][of_a]);
        const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage][of_b]);
        RUNG_UNROLL
        for (int k = 0; k < BK; k += 16) {
          ptx::wgmma_m64<bfloat16, !A_K_MAJOR, !B_K_MAJOR>(sums, ATile::descriptor(a, group_row, k),
                                                           BTile::descriptor(b, 0, k),
                                                           part < PARTS - 1 || k > 0);
        }
      }
      ptx::wgmma_commit_group();

      // sync: all reads of the stage are done
      ptx::wgmma_wait_group<0>(sums);
      if (threadIdx.x % 32 == 0) {
        ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.empty[state.stage]));
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
    return {BM, BN, BK, THREADS, sizeof(Shared)};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const Matrix<const In> b = g.b.transposed();
    const std::int64_t blocks = cuda::tiles_of_c<BM, BN>(g) * chosen.splits;
    return {.grid = {blocks},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .workspace_bytes = Scheduler::template workspace_bytes<float>(blocks, chosen.splits),
            .workspace_bytes_per_block =
                Scheduler::template workspace_bytes_per_block<float>(chosen.splits),
            .persistent = true,
            .starts_early = true,
            .a = PARTS_A == 1 ? cuda::tensor_map_of(g.a, g.m, g.k, BM)
                              : cuda::parts_map_of(g.a, g.m, g.k, BM),
            .b = PARTS_B == 1 ? cuda::tensor_map_of(b, g.n, g.k, BN)
                              : cuda::parts_map_of(b, g.n, g.k, BN),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

//                      BM   BN  STAGES PARTS_A PARTS_B
using FloatB = PartTile<128, 128, 3, 1, 3>;
using FloatA = PartTile<128, 128, 3, 3, 1>;

}  // namespace

RUNG_CUDA_GEMM_TILES(split_bf16, (0, FloatB, bf16), (1, FloatA, bf16))

}  // namespace rung
