// gemm/cuda/28_stored_boxes: TMA store epilogue: results are staged in shared memory, and TMA
//   stores them to C while the consumers multiply the next tile.
// from: 27_clusters | removes: the wait for stores of 8 bytes per thread | bottleneck: tensor cores
//   wait while results move to shared memory; one tile size for every shape
// needs: sm_90a | try: rung trace gemm/cuda/28

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

struct StoredBoxes {
  static constexpr int BM = 128;
  static constexpr int BN = 256;
  static constexpr int BK = 64;
  static constexpr int STAGES = 4;
  static constexpr unsigned GROUP = 8;       // tile rows per swizzle group
  static constexpr int CLUSTER = 2;          // blocks
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int PRODUCER_REGISTERS = 40;
  static constexpr int CONSUMER_REGISTERS = 232;
  static constexpr cuda::Dim3 block = {(1 + CONSUMERS) * 128};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::TmaStoreEpilogue<BN> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads in the cluster are done
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CLUSTER * CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    ptx::barrier_cluster_arrive_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<PRODUCER_REGISTERS>();
      if (threadIdx.x == 0) produce(g, maps, shared);
    } else {
      ptx::setmaxnreg_inc<CONSUMER_REGISTERS>();
      consume(g, maps, shared);
    }

    // sync: no block exits while the other may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// Calls f(tile) for each tile of this block; the tiles of a cluster are stacked in m.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_tiles(const Gemm<In, Out>& g, const F& f) {
    const auto tiles = static_cast<unsigned>(cuda::tiles_of_c<CLUSTER * BM, BN>(g));
    for (unsigned number = blockIdx.x / CLUSTER; number < tiles; number += gridDim.x / CLUSTER) {
      const cuda::TileCoord both = cuda::grouped_tile<CLUSTER * BM, BN>(g, number, GROUP / CLUSTER);
      f(cuda::TileCoord{both.row + ptx::cluster_ctarank() * BM, both.col});
    }
  }

  /// One thread: issues the loads of each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps, Shared<In>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    constexpr int HALF = BN / CLUSTER;
    constexpr std::uint16_t ALL = (1 << CLUSTER) - 1;
    const int my_half = static_cast<int>(ptx::cluster_ctarank()) * HALF;
    cuda::PipelineState<STAGES> state;
    for_tiles(g, [&](const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      const int row = static_cast<int>(tile.row);
      const int col = static_cast<int>(tile.col);
      for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
        // sync: a stage that is empty in both blocks. In the first round all are: what a barrier
        // has before its first phase counts as a phase that has ended.
        ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                  state.parity ^ 1);

        // load: this block's rows of A, and its half of B for both; the other half counts here too
        const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
        const int k = static_cast<int>(k0);
        ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
        cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major, row, k,
                            full);
        cuda::load_tile_multicast<HALF>(ALL,
                                        ptx::cvta_to_shared(&shared.Bs[state.stage][my_half * BK]),
                                        maps.b, b_k_major, col + my_half, k, full);
        state.advance();
      }
    });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps, Shared<In>& shared) {
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    const int group_row = group * 64;
    cuda::PipelineState<STAGES> state;
    for_tiles(g, [&](const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      Out acc[BN / 8][4] = {};
      cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
        multiply<A_K_MAJOR, B_K_MAJOR>(g.k, group_row, shared, state, acc);
      });

      // store
      shared.Cs[group].store(g, maps.c, tile.row + group_row, tile.col, acc, 1 + group);
    });
    shared.Cs[group].wait();
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row,
                                                  Shared<In>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  Out (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
    const auto release = [&](int stage) {
      const std::uint32_t block = threadIdx.x % 32;
      const std::uint32_t empty = ptx::cvta_to_shared(&shared.empty[stage]);
      if (block < CLUSTER) ptx::mbarrier_arrive_cluster(empty, block);
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
      for (int k = 0; k < BK; k += 16) {
        ptx::wgmma_m64k16<In, !A_K_MAJOR, !B_K_MAJOR>(acc, ATile::descriptor(a, group_row, k),
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
    if (steps > 0) release(before);
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {CLUSTER * cuda::tiles_of_c<CLUSTER * BM, BN>(g)},
            .block = block,
            .shared_bytes = sizeof(Shared<In>),
            .cluster = CLUSTER,
            .persistent = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN / CLUSTER),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }
};

}  // namespace

RUNG_CUDA_GEMM(28_stored_boxes, StoredBoxes, bf16, f16)

}  // namespace rung
