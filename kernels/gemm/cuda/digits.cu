// gemm/cuda/digits: f32 as integers of three 8-bit digits, whose products tensor cores add exactly:
//   the bits of a result depend on its row, its column and k alone.
// from: split_f16 | removes: rounding in sums, which makes the bits depend on the order of
//   additions | bottleneck: six products for one, and the pass that splits A and B; spills, once
//   for each tile
// needs: sm_90a | compute mode: reproducible | try: rung bench gemm/cuda/fma_tiles gemm/cuda/digits
//   --math reproducible --device gpu --sizes 4096

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/digit_sums.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/digits_load.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/tile/warpgroup.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES, int CLUSTER>
struct DigitTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int BK = 128;  // rows of 128 bytes
  static constexpr int DIGITS = digits::count;
  static_assert(digits::slab % BK == 0);
  using Scheduler = cuda::TileScheduler<BM, BN, BK, CLUSTER>;
  using Sums = cuda::DigitSums<BN / 8>;

  struct Shared {
    alignas(1024) std::int8_t As[STAGES][DIGITS][BM * BK];
    alignas(1024) std::int8_t Bs[STAGES][DIGITS][BN * BK];
    cuda::TmaStoreEpilogue<BN> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads in the cluster are done
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps, const cuda::SplitK&,
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
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, scales, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// One thread: loads each stage as soon as it is empty.
  static __device__ __forceinline__ void produce(const Gemm<float>& g, const cuda::TensorMaps& maps,
                                                 Shared& shared) {
    constexpr int PART = BN / CLUSTER;
    constexpr std::uint16_t all_blocks = CLUSTER == 1 ? 0 : (1 << CLUSTER) - 1;
    const int my_part = static_cast<int>(ptx::cluster_ctarank()) * PART;
    const Scheduler scheduler(g, 1);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const int row = static_cast<int>(tile.row);
          const int col = static_cast<int>(tile.col) + my_part;
          for (std::int64_t k0 = 0; k0 < work.k_end; k0 += BK) {
            // sync: a stage that is empty in all blocks, as all are in the first round
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                      state.parity ^ 1);

            // load: this block's rows of A, and its part of B for all; the others' count here too
            const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
            const int k = static_cast<int>(k0);
            ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
            RUNG_UNROLL
            for (int digit = 0; digit < DIGITS; ++digit) {
              cuda::load_digits<BM>(0, ptx::cvta_to_shared(shared.As[state.stage][digit]), maps.a,
                                    digit, row, k, full);
              cuda::load_digits<PART>(
                  all_blocks, ptx::cvta_to_shared(&shared.Bs[state.stage][digit][my_part * BK]),
                  maps.b, digit, col, k, full);
            }
            state.advance();
          }
        });
  }

  /// One warpgroup: 64 rows of each tile.
  static __device__ __forceinline__ void consume(const Gemm<float>& g, const cuda::TensorMaps& maps,
                                                 const cuda::OperandScales& scales,
                                                 Shared& shared) {
    const int group = cuda::warpgroup() - 1;
    const Scheduler scheduler(g, 1);
    // Results are stored without alpha and beta, which the sums include already.
    const Gemm<float> stored = {g.m, g.n, g.k, 1.0f, g.a, g.b, 0.0f, g.c};
    const bool by_tma = can_tma_store(g);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile&, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const std::int64_t row = tile.row + group * 64;
          for (std::int64_t begin = 0; begin == 0 || begin < g.k; begin += digits::slab) {
            const std::int64_t end = g.k - begin < digits::slab ? g.k : begin + digits::slab;
            typename Sums::Bins bins = {};
            multiply(end - begin, group * 64, shared, state, bins);
            float results[BN / 8][4];
            Sums::collapse(bins, results);
            const Sums sums(g, scales, row, tile.col, begin, end);
            if (g.k > 0) sums.finish(results);
            sums.scale(begin == 0 ? g.beta : 1.0f, results);

            // store
            if (by_tma) {
              shared.Cs[group].store(stored, maps.c, row, tile.col, results, 1 + group);
            } else {
              cuda::store_m64(stored, row, tile.col, results);
            }
          }
        });
    shared.Cs[group].wait();
  }

  /// True if TMA stores all of C and none of it is read.
  static constexpr bool can_tma_store(const Gemm<float>& g) {
    return cuda::can_tma_store(g) && g.k <= digits::slab;
  }

  /// All bins as one array.
  static __device__ __forceinline__ auto& all(typename Sums::Bins& bins) {
    return reinterpret_cast<std::int32_t(&)[DIGITS * BN / 8][4]>(bins);
  }

  /// bins += products of the digits of rows [group_row, group_row + 64) of A and of B.
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row, Shared& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  typename Sums::Bins& bins) {
    using ATile = cuda::SwizzledTile<BM, true, 1>;
    using BTile = cuda::SwizzledTile<BN, true, 1>;
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
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // multiply: bin i sums the products of digits whose indices add up to i
      ptx::wgmma_fence(all(bins));
      RUNG_UNROLL
      for (int bin = 0; bin < DIGITS; ++bin) {
        RUNG_UNROLL
        for (int digit = 0; digit <= bin; ++digit) {
          const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage][digit]);
          const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage][bin - digit]);
          RUNG_UNROLL
          for (int k = 0; k < BK; k += 32) {
            ptx::wgmma_m64<std::int8_t, false, false>(bins[bin], ATile::descriptor(a, group_row, k),
                                                      BTile::descriptor(b, 0, k));
          }
        }
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(all(bins));
      if (k0 > 0) release(before);
      before = state.stage;
      state.advance();
    }
    ptx::wgmma_wait_group<0>(all(bins));
    if (steps > 0) release(before);
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared), CLUSTER};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig&) {
    return {.grid = {CLUSTER * cuda::tiles_of_c<CLUSTER * BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .cluster = CLUSTER,
            .persistent = true,
            .starts_early = true,
            .a = cuda::digits_map_of(g.a, g.m, g.k, BM),
            .b = cuda::digits_map_of(g.b.transposed(), g.n, g.k, BN / CLUSTER),
            .c = can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

//                            BM   BN  STAGES CLUSTER
using Medium = DigitTile<128, 128, 2, 1>;
using MediumPair = DigitTile<128, 128, 2, 2>;
using Tall = DigitTile<128, 64, 2, 1>;

}  // namespace

RUNG_CUDA_GEMM_TILES(digits, (0, Medium, f32), (1, MediumPair, f32), (2, Tall, f32))

}  // namespace rung
