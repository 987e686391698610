// Products of at most 64 rows with the bits of rung 31, for mode batch_invariant. k is not cut, so
// narrow tiles give work to more SMs. A stage has four k-blocks: to wait for one takes longer than
// to multiply it. The kernel is offered like a rung, but is not on the ladder.
// bottleneck: the wait for each stage; above 132 tiles, waves
// needs: sm_90a, K-major A and B

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/short_tiles.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma_narrow.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

struct FewRows {
  static constexpr int BM = 64, BN = 32, BK = 64;
  static constexpr int K_BLOCKS = 4;  // of a stage
  static constexpr int STAGES = 4;
  static constexpr int THREADS = 256;
  using State = cuda::PipelineState<STAGES>;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES * K_BLOCKS][BM * BK];
    alignas(1024) In Bs[STAGES][K_BLOCKS][BN * BK];
    cuda::StageBarriers<STAGES, 1> barriers;
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) shared.barriers.init(4);
    // sync: the barriers are initialised
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    if (threadIdx.x < 128) {
      if (threadIdx.x == 0) produce(g, maps, tile, shared);
    } else {
      consume(g, tile, shared);
    }
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::TileCoord& tile, Shared<In>& shared) {
    const int bytes = K_BLOCKS * (cuda::loaded_extent<BM>(g.m) + BN) * 128;
    const int col = static_cast<int>(tile.col);
    State state;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += K_BLOCKS * BK) {
      const std::uint32_t full = shared.barriers.expect(state, bytes);
      RUNG_UNROLL
      for (int i = 0; i < K_BLOCKS; ++i) {
        const int k = static_cast<int>(k0) + i * BK;
        cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage * K_BLOCKS + i]), maps.a,
                            true, 0, k, full);
        cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage][i]), maps.b, true, col, k,
                            full);
      }
      state.advance();
    }
  }

  /// One warpgroup: the tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TileCoord& tile, Shared<In>& shared) {
    using ATile = cuda::SwizzledTile<BM, true>;
    using BTile = cuda::SwizzledTile<BN, true>;
    clear_rest(cuda::loaded_extent<BM>(g.m), shared);
    float acc[BN / 8][4] = {};
    State state;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += K_BLOCKS * BK) {
      // sync: the tiles are there
      shared.barriers.wait_until_full(state);

      // multiply
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int i = 0; i < K_BLOCKS; ++i) {
        const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage * K_BLOCKS + i]);
        const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage][i]);
        RUNG_UNROLL
        for (int k = 0; k < BK; k += 16) {
          ptx::wgmma_m64n32k16<In>(acc, ATile::descriptor(a, 0, k), BTile::descriptor(b, 0, k));
        }
      }
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>(acc);
      shared.barriers.release(state.stage);
      state.advance();
    }

    // store
    cuda::store_m64(g, tile.row, tile.col, acc);
  }

  /// Zeros in the rows of A that are not loaded.
  template <class In>
  static __device__ __forceinline__ void clear_rest(int rows, Shared<In>& shared) {
    if (rows == BM) return;
    cuda::clear_rest<128>(shared.As, rows, true, static_cast<int>(threadIdx.x) - 128);
    // sync: wgmma sees the zeros of all threads
    ptx::fence_proxy_async();
    ptx::bar_sync(1, 128);
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In>),
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, cuda::loaded_extent<BM>(g.m)),
            .b = cuda::tensor_map_of_b(g, BN)};
  }
};

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16
RUNG_CUDA_GEMM(library, few_rows, FewRows, bf16, f16, bf16_bf16, f16_f16)

}  // namespace rung
