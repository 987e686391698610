// gemm/cuda/residues: f64 on int8 tensor cores (Ozaki scheme II): elements become integers, these
//   their residues modulo 15 numbers of 8 bits, and the Chinese remainder theorem recovers the
//   products.
// from: mma_f64_warp_specialized | removes: the f64 tensor cores, which have a thirtieth of the
//   int8 rate | bottleneck: 15 products for one, and the pass that splits A and B
// needs: sm_90a | compute mode: split | try: rung bench gemm/cuda/mma_f64_warp_specialized
//   gemm/cuda/residues --dtype f64 --math split --device gpu --sizes 4096

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/residue_sums.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/residues_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung {
namespace {

struct Residues {
  static constexpr int BM = 128, BN = 256, STAGES = 4;
  static constexpr unsigned GROUP = 8;       // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int BK = 128;  // rows of 128 bytes
  static constexpr int MODULI = residues::count;
  static_assert(residues::slab % BK == 0);
  static_assert(MODULI * BM * BN <= cuda::residues_of_tile_bytes);
  using Scheduler = cuda::TileScheduler<BM, BN, BK>;
  using Sums = cuda::ResidueSums<BN / 8, CONSUMERS * 128>;

  struct Shared {
    alignas(1024) std::int8_t As[STAGES][BM * BK];
    alignas(1024) std::int8_t Bs[STAGES][BN * BK];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads of them are done
  };

  static __device__ __forceinline__ void kernel(const Gemm<double>& g, const cuda::TensorMaps& maps,
                                                const cuda::SplitK& room,
                                                const cuda::OperandScales& scales) {
    auto& shared = cuda::dynamic_shared<Shared>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    // sync: the barriers are initialised
    __syncthreads();

    // sync: the previous kernels, those that split A and B, have finished; their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, room, scales, shared);
    }
  }

  /// One thread: loads each stage as soon as it is empty.
  static __device__ __forceinline__ void produce(const Gemm<double>& g,
                                                 const cuda::TensorMaps& maps, Shared& shared) {
    const auto steps = static_cast<int>(cuda::SplitResidues::steps_in_row(g.k));
    cuda::PipelineState<STAGES> state;
    Scheduler(g, 1).for_each(
        g, GROUP, [&](const cuda::WorkTile&, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const int row = static_cast<int>(tile.row);
          const int col = static_cast<int>(tile.col);
          for (int modulus = 0; modulus < MODULI; ++modulus) {
            for (int k = 0; k < steps; k += BK) {
              // sync: a stage that is empty, as all are in the first round
              ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                        state.parity ^ 1);

              // load
              const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
              ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
              cuda::load_residues<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, modulus,
                                      steps, row, k, full);
              cuda::load_residues<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, modulus,
                                      steps, col, k, full);
              state.advance();
            }
          }
        });
  }

  /// One warpgroup: 64 rows of each tile.
  static __device__ __forceinline__ void consume(const Gemm<double>& g, const cuda::SplitK& room,
                                                 const cuda::OperandScales& scales,
                                                 Shared& shared) {
    const int thread = static_cast<int>(threadIdx.x) - 128;
    const int group_row = thread / 128 * 64;
    const Sums sums(
        static_cast<std::uint8_t*>(room.workspace) + blockIdx.x * cuda::residues_of_tile_bytes,
        thread);
    cuda::PipelineState<STAGES> state;
    Scheduler(g, 1).for_each(
        g, GROUP, [&](const cuda::WorkTile&, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          RUNG_NO_UNROLL
          for (int modulus = 0; modulus < MODULI; ++modulus) {
            const residues::Divisor divisor(modulus);
            std::int32_t acc[BN / 8][4] = {};
            for (std::int64_t k0 = 0; k0 < g.k; k0 += residues::slab) {
              const std::int64_t left = g.k - k0;
              multiply(left < residues::slab ? left : residues::slab, group_row, shared, state,
                       acc);
              Sums::reduce(divisor, acc);
            }
            sums.keep(modulus, acc);
          }

          // store
          sums.store(g, scales, tile.row + group_row, tile.col);
        });
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B.
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row, Shared& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  std::int32_t (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledTile<BM, true, 1>;
    using BTile = cuda::SwizzledTile<BN, true, 1>;
    const auto release = [&](int stage) {
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.empty[stage]));
    };

    int before = 0;
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 32) {
        ptx::wgmma_m64<std::int8_t, false, false>(acc, ATile::descriptor(a, group_row, k),
                                                  BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > 0) release(before);
      before = state.stage;
      state.advance();
    }
    ptx::wgmma_wait_group<0>(acc);
    release(before);
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .persistent = true,
            .starts_early = true,
            .a = cuda::residues_map_of(g.a, g.m, g.k, BM),
            .b = cuda::residues_map_of(g.b.transposed(), g.n, g.k, BN)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(residues, Residues, f64)

}  // namespace rung
