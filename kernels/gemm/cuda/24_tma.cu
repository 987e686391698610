// gemm/cuda/24_tma: TMA: one thread issues loads of whole tiles, which the TMA unit swizzles and
//   zero-fills at the edges; an mbarrier counts their bytes.
// from: 23_wgmma | removes: the address computation, copies and bounds checks of all threads
//   | bottleneck: in each k-block, every thread waits for all the others
// needs: sm_90a | try: rung trace gemm/cuda/24

#include "device/cuda/accumulators.cuh"
#include "device/cuda/boxes.cuh"
#include "device/cuda/layouts.cuh"
#include "device/cuda/ptx_barrier.cuh"
#include "device/cuda/ptx_wgmma.cuh"
#include "device/cuda/ring.cuh"
#include "device/cuda/shared.cuh"
#include "device/cuda/swizzled_lines.cuh"
#include "device/cuda/tensor_rung.cuh"

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
    const cuda::Tile tile = cuda::tile_in_groups<BM, BN>(g, blockIdx.x, GROUP);
    const int group_row = static_cast<int>(threadIdx.x) / 128 * 64;

    Out acc[BN / 8][4] = {};
    cuda::with_layouts(g, [&]<bool A_ALONG_K, bool B_ALONG_K>() RUNG_INLINE_LAMBDA {
      multiply<A_ALONG_K, B_ALONG_K>(g.k, maps, tile, group_row, acc,
                                     cuda::dynamic_shared<Shared<In>>());
    });

    // store
    cuda::store_m64(g, tile.row + group_row, tile.col, acc);
  }

  /// acc += (64 rows of the tile of A, from group_row on) * (the tile of B).
  template <bool A_ALONG_K, bool B_ALONG_K, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, const cuda::TensorMaps& maps,
                                                  const cuda::Tile& tile, int group_row,
                                                  Out (&acc)[BN / 8][4], Shared<In>& shared) {
    using ATile = cuda::SwizzledLines<BM, A_ALONG_K>;
    using BTile = cuda::SwizzledLines<BN, B_ALONG_K>;
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
      cuda::load_tile<BM>(ptx::cvta_to_shared(As[stage]), maps.a, A_ALONG_K,
                          static_cast<int>(tile.row), static_cast<int>(k0), barrier);
      cuda::load_tile<BN>(ptx::cvta_to_shared(Bs[stage]), maps.b, B_ALONG_K,
                          static_cast<int>(tile.col), static_cast<int>(k0), barrier);
    };
    for (int stage = 0; stage < STAGES; ++stage) load(stage, stage * BK);

    cuda::Ring<STAGES> ring;
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      // sync: wait for the tiles
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&full[ring.stage]), ring.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(As[ring.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(Bs[ring.stage]);
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::wgmma_m64k16<In, !A_ALONG_K, !B_ALONG_K>(acc, ATile::descriptor(a, group_row, k),
                                                      BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>(acc);

      // sync: all reads of the tiles are done
      __syncthreads();

      // load: issue other tiles into their buffer
      load(ring.stage, k0 + STAGES * BK);
      ring.advance();
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = block,
            .shared_bytes = sizeof(Shared<In>),
            .a = cuda::boxes_of_a(g, BM),
            .b = cuda::boxes_of_b(g, BN)};
  }
};

}  // namespace

RUNG_CUDA_GEMM_MAPS(24, tma, Tma)

}  // namespace rung
