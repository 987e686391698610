// gemm/cuda/43_tcgen05: tcgen05.mma: one thread issues the multiplications of a whole tile, and the
//   sums accumulate in tensor memory, a memory of the tensor cores; threads load them at the end.
// from: 24_tma | removes: sums in registers, which limit the tile, and multiplications that all
//   warps issue | bottleneck: the thread waits for each multiplication before it issues the next
// needs: sm_100a | try: rung trace gemm/cuda/43

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/tensor_memory.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/tcgen05.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tcgen05_descriptors.cuh"

namespace rung {
namespace {

struct Tcgen05 {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 64;
  static constexpr int STAGES = 3;
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  static constexpr int THREADS = 128;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    std::uint64_t full[STAGES];  // mbarriers: the tiles have arrived
    std::uint64_t done;          // mbarrier: all multiplications so far are complete
    std::uint32_t sums;          // address in tensor memory
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    // place
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, GROUP);

    const bool is_first_warp = threadIdx.x < 32;
    if (is_first_warp) ptx::tcgen05_alloc<BN>(ptx::cvta_to_shared(&shared.sums));
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
      }
      ptx::mbarrier_init(ptx::cvta_to_shared(&shared.done), 1);
      ptx::fence_mbarrier_init();
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();

    const std::uint32_t sums = shared.sums;
    if (threadIdx.x == 0) multiply(g, maps, tile, sums, shared);

    // sync: all multiplications are complete
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();

    // store
    cuda::store_tensor_memory<BN>(g, tile.row, tile.col, sums);

    // sync: all sums have been loaded
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    if (is_first_warp) ptx::tcgen05_dealloc<BN>(sums);
  }

  /// One thread: sums = the tile's rows of A times its columns of B.
  template <class In, class Out>
  static __device__ __forceinline__ void multiply(const Gemm<In, Out>& g,
                                                  const cuda::TensorMaps& maps,
                                                  const cuda::TileCoord& tile, std::uint32_t sums,
                                                  Shared<In>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const std::uint32_t form = cuda::tcgen05_form(BM, BN, a_k_major, b_k_major);
    auto& [As, Bs, full, done, unused] = shared;

    // load: issue the first tiles
    const auto load = [&](int stage, std::int64_t k0) {
      if (k0 >= g.k) return;
      const std::uint32_t barrier = ptx::cvta_to_shared(&full[stage]);
      ptx::mbarrier_arrive_expect_tx(barrier, sizeof As[0] + sizeof Bs[0]);
      cuda::load_tile<BM>(ptx::cvta_to_shared(As[stage]), maps.a, a_k_major,
                          static_cast<int>(tile.row), static_cast<int>(k0), barrier);
      cuda::load_tile<BN>(ptx::cvta_to_shared(Bs[stage]), maps.b, b_k_major,
                          static_cast<int>(tile.col), static_cast<int>(k0), barrier);
    };
    for (int stage = 0; stage < STAGES; ++stage) load(stage, stage * BK);

    cuda::PipelineState<STAGES> state;
    cuda::PipelineState<1> step;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&full[state.stage]), state.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(Bs[state.stage]);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::tcgen05_mma_f16(sums, cuda::tcgen05_matrix(a, a_k_major, k),
                             cuda::tcgen05_matrix(b, b_k_major, k), form, k0 + k > 0);
      }
      ptx::tcgen05_commit(ptx::cvta_to_shared(&done));

      // sync: all reads of the tiles are done
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&done), step.parity);
      step.advance();

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

RUNG_CUDA_GEMM(43_tcgen05, Tcgen05, bf16)

}  // namespace rung
