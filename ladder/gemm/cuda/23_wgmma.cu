// gemm/cuda/23_wgmma: wgmma: the four warps of a warpgroup multiply 64 x 128 at a time, and tensor
//   cores read both operands from shared memory.
// from: 22_stages | removes: fragments in registers, and the instructions that load them
//   | bottleneck: all threads issue copies, and tensor cores wait for them at each barrier
// needs: sm_90a | try: rung trace gemm/cuda/23

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/tile_loader.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

struct Wgmma {
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
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    // place
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, GROUP);
    const int group_row = static_cast<int>(threadIdx.x) / 128 * 64;

    Out acc[BN / 8][4] = {};
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      multiply<A_K_MAJOR, B_K_MAJOR>(g, tile, group_row, acc);
    });

    // store
    cuda::store_m64(g, tile.row + group_row, tile.col, acc);
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(const Gemm<In, Out>& g,
                                                  const cuda::TileCoord& tile, int group_row,
                                                  Out (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
    auto& [As, Bs] = cuda::dynamic_shared<Shared<In>>();

    // load: issue the first tiles; those after the last one are zeros, so that one commit group is
    // one tile
    const cuda::TileLoader<In, ATile, THREADS> a_tile(cuda::operand_a(g), tile.row);
    const cuda::TileLoader<In, BTile, THREADS> b_tile(cuda::operand_b(g), tile.col);
    RUNG_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      a_tile.copy(As[stage], stage * BK);
      b_tile.copy(Bs[stage], stage * BK);
      ptx::cp_async_commit_group();
    }

    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: this thread's copies have arrived and are visible to the async proxy, then those of
      // all threads; all reads of the previous tiles are done, so their buffer can be overwritten
      ptx::cp_async_wait_group<STAGES - 2>();
      ptx::fence_proxy_async();
      __syncthreads();

      // load: issue the next tiles
      const int next = now == 0 ? STAGES - 1 : now - 1;
      a_tile.copy(As[next], k0 + (STAGES - 1) * BK);
      b_tile.copy(Bs[next], k0 + (STAGES - 1) * BK);
      ptx::cp_async_commit_group();

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(As[now]);
      const std::uint32_t b = ptx::cvta_to_shared(Bs[now]);
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::wgmma_m64k16<In, !A_K_MAJOR, !B_K_MAJOR>(acc, ATile::descriptor(a, group_row, k),
                                                      BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>(acc);
      now = now == STAGES - 1 ? 0 : now + 1;
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {
        .grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block, .shared_bytes = sizeof(Shared<In>)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(23_wgmma, Wgmma, bf16, f16)

}  // namespace rung
