// gemm/cuda/26_persistent: persistent blocks: each block loops over tiles, and its producer loads
//   the next tile's operands while the consumers store results.
// from: 25_warp_roles | removes: the start-up and tear-down of each block
//   | bottleneck: neighbouring blocks load the same tiles separately, and tensor cores wait during
//   the epilogue
// needs: sm_90a | try: rung trace gemm/cuda/26

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

struct Persistent {
  static constexpr int BM = 128;
  static constexpr int BN = 256;
  static constexpr int BK = 64;
  static constexpr int STAGES = 4;
  static constexpr unsigned GROUP = 8;       // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int PRODUCER_REGISTERS = 40;
  static constexpr int CONSUMER_REGISTERS = 232;
  static constexpr cuda::Dim3 block = {(1 + CONSUMERS) * 128};

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads of them are done
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    __syncthreads();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<PRODUCER_REGISTERS>();
      if (threadIdx.x == 0) produce(g, maps, shared);
    } else {
      ptx::setmaxnreg_inc<CONSUMER_REGISTERS>();
      consume(g, shared);
    }
  }

  /// Calls f(tile) for each tile of this block.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_tiles(const Gemm<In, Out>& g, const F& f) {
    const auto tiles = static_cast<unsigned>(cuda::tiles_of_c<BM, BN>(g));
    for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {
      f(cuda::tile_in_groups<BM, BN>(g, number, GROUP));
    }
  }

  /// One thread: issues the loads of each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps, Shared<In>& shared) {
    const bool a_along_k = cuda::operand_a(g).is_along_k();
    const bool b_along_k = cuda::operand_b(g).is_along_k();
    cuda::Ring<STAGES> ring;
    for_tiles(g, [&](const cuda::Tile& tile) RUNG_INLINE_LAMBDA {
      const int row = static_cast<int>(tile.row);
      const int col = static_cast<int>(tile.col);
      for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
        // sync: wait for an empty stage. In the first round this returns at once: waiting for the
        // parity before the first phase succeeds.
        ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[ring.stage]), ring.parity ^ 1);

        // load
        const std::uint32_t full = ptx::cvta_to_shared(&shared.full[ring.stage]);
        const int k = static_cast<int>(k0);
        ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
        cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[ring.stage]), maps.a, a_along_k, row, k,
                            full);
        cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[ring.stage]), maps.b, b_along_k, col, k,
                            full);
        ring.advance();
      }
    });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g, Shared<In>& shared) {
    const int group_row = (static_cast<int>(threadIdx.x) / 128 - 1) * 64;
    cuda::Ring<STAGES> ring;
    for_tiles(g, [&](const cuda::Tile& tile) RUNG_INLINE_LAMBDA {
      Out acc[BN / 8][4] = {};
      cuda::with_layouts(g, [&]<bool A_ALONG_K, bool B_ALONG_K>() RUNG_INLINE_LAMBDA {
        multiply<A_ALONG_K, B_ALONG_K>(g.k, group_row, shared, ring, acc);
      });

      // store
      cuda::store_m64(g, tile.row + group_row, tile.col, acc);
    });
  }

  /// acc += (64 rows of the tile of A, from group_row on) * (the tile of B).
  template <bool A_ALONG_K, bool B_ALONG_K, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row,
                                                  Shared<In>& shared, cuda::Ring<STAGES>& ring,
                                                  Out (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledLines<BM, A_ALONG_K>;
    using BTile = cuda::SwizzledLines<BN, B_ALONG_K>;
    const auto release = [&](int stage) {
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.empty[stage]));
    };

    int before = 0;
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      // sync: wait for the tiles
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[ring.stage]), ring.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[ring.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[ring.stage]);
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::wgmma_m64k16<In, !A_ALONG_K, !B_ALONG_K>(acc, ATile::descriptor(a, group_row, k),
                                                      BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > 0) release(before);
      before = ring.stage;
      ring.advance();
    }
    ptx::wgmma_wait_group<0>(acc);
    if (steps > 0) release(before);
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = block,
            .shared_bytes = sizeof(Shared<In>),
            .persistent = true,
            .a = cuda::boxes_of_a(g, BM),
            .b = cuda::boxes_of_b(g, BN)};
  }
};

}  // namespace

RUNG_CUDA_GEMM_MAPS(26, persistent, Persistent)

}  // namespace rung
