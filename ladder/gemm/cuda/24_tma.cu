// gemm/cuda/24_tma: TMA: one thread issues loads of whole tiles, which the TMA unit swizzles and
//   zero-fills at the edges; an mbarrier counts their bytes.
// from: 23_wgmma | removes: the address computation, copies and bounds checks of all threads
//   | bottleneck: in each k-block, every thread waits for all the others
// needs: sm_90a | try: rung trace gemm/cuda/24

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

struct Tma {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 64;
  static constexpr int STAGES = 3;
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  static constexpr int THREADS = BM / 64 * 128;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    std::uint64_t full[STAGES];  // mbarriers: the tiles have arrived
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    // place
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, GROUP);
    const int group_row = static_cast<int>(threadIdx.x) / 128 * 64;

    Out acc[BN / 8][4] = {};
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      multiply<A_K_MAJOR, B_K_MAJOR>(g.k, maps, tile, group_row, acc,
                                     cuda::dynamic_shared<Shared<In>>());
    });

    // store
    cuda::store_m64(g, tile.row + group_row, tile.col, acc);
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, const cuda::TensorMaps& maps,
                                                  const cuda::TileCoord& tile, int group_row,
                                                  Out (&acc)[BN / 8][4], Shared<In>& shared) {
    using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
    auto& [As, Bs, full] = shared;

    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&full[stage]), 1);
      }
      ptx::fence_mbarrier_init();
    }
    __syncthreads();

    // load: issue the first tiles
    const auto load = [&](int stage, std::int64_t k0) {
      if (threadIdx.x != 0 || k0 >= steps) return;
      const std::uint32_t barrier = ptx::cvta_to_shared(&full[stage]);
      ptx::mbarrier_arrive_expect_tx(barrier, sizeof As[0] + sizeof Bs[0]);
      cuda::load_tile<BM>(ptx::cvta_to_shared(As[stage]), maps.a, A_K_MAJOR,
                          static_cast<int>(tile.row), static_cast<int>(k0), barrier);
      cuda::load_tile<BN>(ptx::cvta_to_shared(Bs[stage]), maps.b, B_K_MAJOR,
                          static_cast<int>(tile.col), static_cast<int>(k0), barrier);
    };
    for (int stage = 0; stage < STAGES; ++stage) load(stage, stage * BK);

    cuda::PipelineState<STAGES> state;
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&full[state.stage]), state.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(Bs[state.stage]);
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::wgmma_m64k16<In, !A_K_MAJOR, !B_K_MAJOR>(acc, ATile::descriptor(a, group_row, k),
                                                      BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>(acc);

      // sync: all reads of the tiles are done
      __syncthreads();

      // load: issue the next tiles in their place
      load(state.stage, k0 + STAGES * BK);
      state.advance();
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = block,
            .shared_bytes = sizeof(Shared<In>),
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(24_tma, Tma, bf16, f16)

}  // namespace rung
