// gemm/cuda/46_block_pairs: pairs of blocks: one tcgen05.mma multiplies 256 rows by 256 columns for
//   two SMs, and each block loads half of the columns, so that a stage takes 32 KiB instead of 48.
// from: 45_two_accumulators | removes: half of the loads of B, and their shared memory
//   | bottleneck: tiles are assigned in advance, so that one late block delays the end
// needs: sm_100a | try: rung trace gemm/cuda/46

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/tensor_memory.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load_of_pair.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/tcgen05.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tcgen05_descriptors.cuh"

namespace rung {
namespace {

struct BlockPairs {
  static constexpr int BM = 128;
  static constexpr int BN = 256;
  static constexpr int BK = 64;
  static constexpr int STAGES = 6;
  static constexpr int ACCUMULATORS = 2;
  static constexpr unsigned GROUP = 8;          // tile rows per swizzle group
  static constexpr int PAIR = 2;                // blocks
  static constexpr std::uint16_t BOTH = 3;      // mask of the pair's blocks
  static constexpr unsigned EPILOGUE = 4 * 32;  // threads: four warps, which reach all lanes
  static constexpr unsigned PRODUCER = EPILOGUE, MULTIPLIER = EPILOGUE + 32;  // threads
  static constexpr int THREADS = EPILOGUE + 2 * 32;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN / PAIR * BK];
    std::uint64_t full[STAGES];           // mbarriers: the tiles of both blocks have arrived
    std::uint64_t empty[STAGES];          // mbarriers: all reads of them are done
    std::uint64_t done[ACCUMULATORS];     // mbarriers: all multiplications of a tile are complete
    std::uint64_t drained[ACCUMULATORS];  // mbarriers: its sums have been loaded
    std::uint32_t sums;                   // address in tensor memory
  };

  using Accumulator = cuda::PipelineState<ACCUMULATORS>;

  template <class In>
  static __device__ __forceinline__ std::uint32_t sums_of(const Accumulator& accumulator,
                                                          const Shared<In>& shared) {
    return shared.sums + static_cast<std::uint32_t>(accumulator.stage) * BN;
  }

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    const bool is_first_warp = threadIdx.x < 32;
    constexpr int COLUMNS = ACCUMULATORS * BN;
    if (is_first_warp) ptx::tcgen05_alloc<COLUMNS, PAIR>(ptx::cvta_to_shared(&shared.sums));
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), 1);
      }
      for (int i = 0; i < ACCUMULATORS; ++i) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.done[i]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.drained[i]), PAIR * EPILOGUE / 32);
      }
      ptx::fence_mbarrier_init();
    }
    ptx::tcgen05_fence_before_thread_sync();
    ptx::barrier_cluster_arrive_wait();
    ptx::tcgen05_fence_after_thread_sync();

    cuda::PipelineState<STAGES> state;
    Accumulator accumulator;
    for_tiles(g, [&](const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      if (threadIdx.x == PRODUCER) produce(g, maps, tile, shared, state);
      if (threadIdx.x == MULTIPLIER && is_leader()) multiply(g, shared, state, accumulator);
      if (threadIdx.x < EPILOGUE) store(g, tile, shared, accumulator);
      accumulator.advance();
    });

    // sync: all sums have been loaded, and no block exits while the other may still signal it
    ptx::tcgen05_fence_before_thread_sync();
    ptx::barrier_cluster_arrive_wait();
    if (is_first_warp) ptx::tcgen05_dealloc<COLUMNS, PAIR>(shared.sums);
  }

  /// The first block of a pair multiplies for both.
  static __device__ __forceinline__ bool is_leader() { return ptx::cluster_ctarank() == 0; }

  /// Calls f(tile) for each tile of this block; the tiles of a pair are stacked in m.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_tiles(const Gemm<In, Out>& g, const F& f) {
    const auto tiles = static_cast<unsigned>(cuda::tiles_of_c<PAIR * BM, BN>(g));
    for (unsigned number = blockIdx.x / PAIR; number < tiles; number += gridDim.x / PAIR) {
      const cuda::TileCoord both = cuda::grouped_tile<PAIR * BM, BN>(g, number, GROUP / PAIR);
      f(cuda::TileCoord{both.row + ptx::cluster_ctarank() * BM, both.col});
    }
  }

  /// One thread of each block: issues the loads of each stage as soon as it is empty: the block's
  /// rows of A, and its half of the columns of B. The bytes of both blocks complete at the leader.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::TileCoord& tile, Shared<In>& shared,
                                                 cuda::PipelineState<STAGES>& state) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const int row = static_cast<int>(tile.row);
    const int col = static_cast<int>(tile.col + ptx::cluster_ctarank() * (BN / PAIR));
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: an empty stage. In the first round all are: what a barrier has before its first phase
      // counts as a phase that has ended.
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]), state.parity ^ 1);

      // load
      const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
      const std::uint32_t full_of_leader = ptx::mapa(full, 0);
      const int k = static_cast<int>(k0);
      if (is_leader()) {
        ptx::mbarrier_arrive_expect_tx(full, PAIR * (sizeof shared.As[0] + sizeof shared.Bs[0]));
      }
      cuda::load_tile_of_pair<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major,
                                  row, k, full_of_leader);
      cuda::load_tile_of_pair<BN / PAIR>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b,
                                         b_k_major, col, k, full_of_leader);
      state.advance();
    }
  }

  /// One thread of the leader: sums = the rows of A times the columns of B, in both blocks.
  template <class In, class Out>
  static __device__ __forceinline__ void multiply(const Gemm<In, Out>& g, Shared<In>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  const Accumulator& accumulator) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const std::uint32_t form = cuda::tcgen05_form(PAIR * BM, BN, a_k_major, b_k_major);
    // sync: the sums of an earlier tile have been loaded in both blocks
    const std::uint32_t sums = sums_of(accumulator, shared);
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.drained[accumulator.stage]),
                              accumulator.parity ^ 1);
    ptx::tcgen05_fence_after_thread_sync();
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::tcgen05_mma_f16<PAIR>(sums, cuda::tcgen05_matrix(a, a_k_major, k),
                                   cuda::tcgen05_matrix(b, b_k_major, k), form, k0 + k > 0);
      }

      // release the stage as soon as these multiplications have read it
      ptx::tcgen05_commit_multicast(ptx::cvta_to_shared(&shared.empty[state.stage]), BOTH);
      state.advance();
    }
    ptx::tcgen05_commit_multicast(ptx::cvta_to_shared(&shared.done[accumulator.stage]), BOTH);
  }

  /// Four warps: store the sums of the tile.
  template <class In, class Out>
  static __device__ __forceinline__ void store(const Gemm<In, Out>& g, const cuda::TileCoord& tile,
                                               Shared<In>& shared, const Accumulator& accumulator) {
    // sync: all multiplications are complete
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.done[accumulator.stage]),
                              accumulator.parity);
    ptx::tcgen05_fence_after_thread_sync();

    // store
    cuda::store_tensor_memory<BN>(g, tile.row, tile.col, sums_of(accumulator, shared));

    // release the accumulator
    ptx::tcgen05_fence_before_thread_sync();
    ptx::bar_warp_sync();
    if (threadIdx.x % 32 == 0) {
      ptx::mbarrier_arrive_cluster(ptx::cvta_to_shared(&shared.drained[accumulator.stage]), 0);
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {PAIR * cuda::tiles_of_c<PAIR * BM, BN>(g)},
            .block = block,
            .shared_bytes = sizeof(Shared<In>),
            .cluster = PAIR,
            .persistent = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN / PAIR)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(46_block_pairs, BlockPairs, bf16)

}  // namespace rung
