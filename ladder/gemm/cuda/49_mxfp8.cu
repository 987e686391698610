// gemm/cuda/49_mxfp8: block-scaled elements of 8 bits: each 32 elements along k share a power of
//   two, which tcgen05.cp copies to tensor memory, and tcgen05.mma multiplies by both scales.
// from: 45_two_accumulators | removes: operands of 16 bits, which take twice the time to load and
//   to multiply | bottleneck: sums and scales share tensor memory, so that a tile has 128 columns
// needs: sm_100a, operands in mxfp8; others are rounded to it | try: rung trace gemm/cuda/49

#include "device/cuda/entry/quantized.cuh"
#include "device/cuda/epilogue/tensor_memory.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/tcgen05.cuh"
#include "device/cuda/ptx/tcgen05_block_scale.cuh"
#include "device/cuda/tile/block_scale_descriptors.cuh"

namespace rung {
namespace {

struct Mxfp8 {
  static constexpr BlockFormat FORMAT = BlockFormat::mxfp8;
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 128;    // k-steps: 128 bytes of a row, and four scales
  static constexpr int STEPS = 32;  // of an instruction: 32 bytes of a row, and one scale
  static constexpr int STAGES = 6;
  static constexpr int ACCUMULATORS = 2;
  static constexpr int SCALES_A = ACCUMULATORS * BN;  // column of tensor memory
  static constexpr int SCALES_B = SCALES_A + 4;
  static constexpr int COLUMNS = 512;
  static constexpr unsigned GROUP = 8;          // tile rows per swizzle group
  static constexpr unsigned EPILOGUE = 4 * 32;  // threads: four warps, which reach all lanes
  static constexpr unsigned PRODUCER = EPILOGUE, MULTIPLIER = EPILOGUE + 32;  // threads
  static constexpr int THREADS = EPILOGUE + 2 * 32;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  struct Shared {
    alignas(1024) std::uint8_t As[STAGES][BM * BK];
    alignas(1024) std::uint8_t Bs[STAGES][BN * BK];
    alignas(128) std::uint8_t scales_a[STAGES][cuda::ScaleTile::bytes];
    alignas(128) std::uint8_t scales_b[STAGES][cuda::ScaleTile::bytes];
    std::uint64_t full[STAGES];           // mbarriers: the tiles and their scales have arrived
    std::uint64_t empty[STAGES];          // mbarriers: all reads of them are done
    std::uint64_t done[ACCUMULATORS];     // mbarriers: all multiplications of a tile are complete
    std::uint64_t drained[ACCUMULATORS];  // mbarriers: its sums have been loaded
    std::uint32_t sums;                   // address in tensor memory
  };

  using Problem = Gemm<bfloat16, float>;
  using Accumulator = cuda::PipelineState<ACCUMULATORS>;

  static __device__ __forceinline__ std::uint32_t sums_of(const Accumulator& accumulator,
                                                          const Shared& shared) {
    return shared.sums + static_cast<std::uint32_t>(accumulator.stage) * BN;
  }

  static __device__ __forceinline__ void kernel(const Problem& g, const cuda::TensorMaps& maps,
                                                const cuda::BlockScaleTiles& scales) {
    auto& shared = cuda::dynamic_shared<Shared>();
    const bool is_first_warp = threadIdx.x < 32;
    if (is_first_warp) ptx::tcgen05_alloc<COLUMNS>(ptx::cvta_to_shared(&shared.sums));
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), 1);
      }
      for (int i = 0; i < ACCUMULATORS; ++i) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.done[i]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.drained[i]), EPILOGUE / 32);
      }
      ptx::fence_mbarrier_init();
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();

    cuda::PipelineState<STAGES> state;
    Accumulator accumulator;
    for_tiles(g, [&](const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      if (threadIdx.x == PRODUCER) produce(g, maps, scales, tile, shared, state);
      if (threadIdx.x == MULTIPLIER) multiply(g, shared, state, accumulator);
      if (threadIdx.x < EPILOGUE) store(g, tile, shared, accumulator);
      accumulator.advance();
    });

    // sync: all sums have been loaded
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    if (is_first_warp) ptx::tcgen05_dealloc<COLUMNS>(shared.sums);
  }

  /// Calls f(tile) for each tile of this block.
  template <class F>
  static __device__ __forceinline__ void for_tiles(const Problem& g, const F& f) {
    const auto tiles = static_cast<unsigned>(cuda::tiles_of_c<BM, BN>(g));
    for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {
      f(cuda::grouped_tile<BM, BN>(g, number, GROUP));
    }
  }

  /// One thread: issues the loads of each stage as soon as it is empty. The scales of a tile are
  /// contiguous, so that they need no tensor map.
  static __device__ __forceinline__ void produce(const Problem& g, const cuda::TensorMaps& maps,
                                                 const cuda::BlockScaleTiles& scales,
                                                 const cuda::TileCoord& tile, Shared& shared,
                                                 cuda::PipelineState<STAGES>& state) {
    constexpr int bytes = cuda::ScaleTile::bytes;
    const auto* const of_a = scales.a + cuda::ScaleTile::offset(FORMAT, g.k, tile.row, 0);
    const auto* const of_b = scales.b + cuda::ScaleTile::offset(FORMAT, g.k, tile.col, 0);
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: an empty stage. In the first round all are: what a barrier has before its first phase
      // counts as a phase that has ended.
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]), state.parity ^ 1);

      // load
      const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
      const int k = static_cast<int>(k0);
      ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0] + 2 * bytes);
      cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, true,
                          static_cast<int>(tile.row), k, full);
      cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, true,
                          static_cast<int>(tile.col), k, full);
      const std::int64_t first = k0 / BK * bytes;
      ptx::cp_async_bulk(ptx::cvta_to_shared(shared.scales_a[state.stage]), of_a + first, bytes,
                         full);
      ptx::cp_async_bulk(ptx::cvta_to_shared(shared.scales_b[state.stage]), of_b + first, bytes,
                         full);
      state.advance();
    }
  }

  /// One thread: sums = the tile's rows of A times its columns of B.
  static __device__ __forceinline__ void multiply(const Problem& g, Shared& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  const Accumulator& accumulator) {
    // sync: the sums of an earlier tile have been loaded
    const std::uint32_t sums = sums_of(accumulator, shared);
    const std::uint32_t scales_a = shared.sums + SCALES_A;
    const std::uint32_t scales_b = shared.sums + SCALES_B;
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.drained[accumulator.stage]),
                              accumulator.parity ^ 1);
    ptx::tcgen05_fence_after_thread_sync();
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: the tiles have arrived
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

      // copy the scales: copies and multiplications of a thread run in their order, so that these
      // neither overtake earlier multiplications nor need a wait
      ptx::tcgen05_cp_32x128b(
          scales_a, cuda::tcgen05_scales(ptx::cvta_to_shared(shared.scales_a[state.stage])));
      ptx::tcgen05_cp_32x128b(
          scales_b, cuda::tcgen05_scales(ptx::cvta_to_shared(shared.scales_b[state.stage])));

      // multiply: instruction i takes byte i of the four scales
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += STEPS) {
        ptx::tcgen05_mma_scaled<FORMAT>(sums, cuda::tcgen05_bytes(a, k), cuda::tcgen05_bytes(b, k),
                                        cuda::tcgen05_scaled_form(FORMAT, BM, BN, k / STEPS),
                                        scales_a, scales_b, k0 + k > 0);
      }

      // release the stage as soon as these multiplications have read it
      ptx::tcgen05_commit(ptx::cvta_to_shared(&shared.empty[state.stage]));
      state.advance();
    }
    ptx::tcgen05_commit(ptx::cvta_to_shared(&shared.done[accumulator.stage]));
  }

  /// Four warps: store the sums of the tile.
  static __device__ __forceinline__ void store(const Problem& g, const cuda::TileCoord& tile,
                                               Shared& shared, const Accumulator& accumulator) {
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
      ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.drained[accumulator.stage]));
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = block,
            .shared_bytes = sizeof(Shared),
            .persistent = true,
            .a = cuda::quantized_map(FORMAT, g.a, g.m, g.k, BM),
            .b = cuda::quantized_map(FORMAT, g.b.transposed(), g.n, g.k, BN)};
  }
};

}  // namespace

RUNG_QUANTIZED_GEMM(49_mxfp8, Mxfp8)

}  // namespace rung
