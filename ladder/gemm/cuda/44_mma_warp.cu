// gemm/cuda/44_mma_warp: warp specialization: a thread of one warp issues TMA loads, a thread of
//   another issues multiplications back to back; tcgen05.commit returns each stage to the loads.
// from: 43_tcgen05 | removes: the wait for each multiplication before the next is issued
//   | bottleneck: the prologue and epilogue of each block overlap no multiplication
// needs: sm_100a | try: rung trace gemm/cuda/44

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

struct MmaWarp {
  static constexpr int BM = 128;
  static constexpr int BN = 256;
  static constexpr int BK = 64;
  static constexpr int STAGES = 4;
  static constexpr unsigned GROUP = 8;          // tile rows per swizzle group
  static constexpr unsigned EPILOGUE = 4 * 32;  // threads: four warps, which reach all lanes
  static constexpr unsigned PRODUCER = EPILOGUE, MULTIPLIER = EPILOGUE + 32;  // threads
  static constexpr int THREADS = EPILOGUE + 2 * 32;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads of them are done
    std::uint64_t done;           // mbarrier: all multiplications are complete
    std::uint32_t sums;           // address in tensor memory
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    const bool is_first_warp = threadIdx.x < 32;
    if (is_first_warp) ptx::tcgen05_alloc<BN>(ptx::cvta_to_shared(&shared.sums));
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), 1);
      }
      ptx::mbarrier_init(ptx::cvta_to_shared(&shared.done), 1);
      ptx::fence_mbarrier_init();
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();

    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, GROUP);
    if (threadIdx.x == PRODUCER) produce(g, maps, tile, shared);
    if (threadIdx.x == MULTIPLIER) multiply(g, shared);
    if (threadIdx.x < EPILOGUE) store(g, tile, shared);

    // sync: all sums have been loaded
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    if (is_first_warp) ptx::tcgen05_dealloc<BN>(shared.sums);
  }

  /// One thread: issues the loads of each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::TileCoord& tile, Shared<In>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const int row = static_cast<int>(tile.row);
    const int col = static_cast<int>(tile.col);
    cuda::PipelineState<STAGES> state;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: an empty stage. In the first round all are: what a barrier has before its first phase
      // counts as a phase that has ended.
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]), state.parity ^ 1);

      // load
      const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
      const int k = static_cast<int>(k0);
      ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
      cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major, row, k,
                          full);
      cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, b_k_major, col, k,
                          full);
      state.advance();
    }
  }

  /// One thread: sums = the tile's rows of A times its columns of B.
  template <class In, class Out>
  static __device__ __forceinline__ void multiply(const Gemm<In, Out>& g, Shared<In>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const std::uint32_t form = cuda::tcgen05_form(BM, BN, a_k_major, b_k_major);
    const std::uint32_t sums = shared.sums;
    cuda::PipelineState<STAGES> state;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::tcgen05_mma_f16(sums, cuda::tcgen05_matrix(a, a_k_major, k),
                             cuda::tcgen05_matrix(b, b_k_major, k), form, k0 + k > 0);
      }

      // release the stage as soon as these multiplications have read it
      ptx::tcgen05_commit(ptx::cvta_to_shared(&shared.empty[state.stage]));
      state.advance();
    }
    ptx::tcgen05_commit(ptx::cvta_to_shared(&shared.done));
  }

  /// Four warps: store the sums of the tile.
  template <class In, class Out>
  static __device__ __forceinline__ void store(const Gemm<In, Out>& g, const cuda::TileCoord& tile,
                                               Shared<In>& shared) {
    // sync: all multiplications are complete
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.done), 0);
    ptx::tcgen05_fence_after_thread_sync();

    // store
    cuda::store_tensor_memory<BN>(g, tile.row, tile.col, shared.sums);
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

RUNG_CUDA_GEMM(44_mma_warp, MmaWarp, bf16)

}  // namespace rung
