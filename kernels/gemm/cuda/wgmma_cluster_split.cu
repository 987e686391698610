// gemm/cuda/wgmma_cluster_split: the blocks of a cluster divide k of one tile, and add their sums
//   through distributed shared memory.
// from: wgmma_tiles | removes: partial sums in global memory, and the wait for the last block of a
//   tile | bottleneck: latency of the few k-blocks of a part, and of two cluster barriers
// needs: sm_90a | try: rung bench gemm/cuda/wgmma_tiles gemm/cuda/wgmma_cluster_split
//   --dtype bf16-bf16 --layout nt --sizes 400x600x6832

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/ld_shared_cluster.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/transposed_product.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

/// Each cluster computes one tile, BM x BN elements of the transpose of C: A, B, rows and columns
/// are those of the transposed product. The number of its blocks, GemmConfig::splits, is run-time
/// data.
template <int BM, int BN, int STAGES>
struct ClusterSplitTile {
  static constexpr int BK = 64;
  static constexpr unsigned GROUP = 8;       // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  // Columns of B in shared memory: MN-major boxes have 64.
  static constexpr int B_EXTENT = (BN + 63) / 64 * 64;
  static constexpr int J = BN / 8;
  using State = cuda::PipelineState<STAGES>;

  template <class Sum>
  using Sums = Sum[CONSUMERS * 128][4];
  template <class In, class Sum>
  struct Shared : cuda::StageBarriers<STAGES, 1> {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][B_EXTENT * BK];

    /// The sums of each group of eight columns, in the memory of the stages.
    __device__ __forceinline__ Sums<Sum>* sums() {
      static_assert(J * sizeof(Sums<Sum>) <= sizeof As);
      return reinterpret_cast<Sums<Sum>*>(As);
    }
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& whole,
                                                const cuda::TensorMaps& maps, const cuda::SplitK&) {
    const Gemm<In, Out> g = cuda::maybe_transposed<true>(whole);
    auto& shared = cuda::dynamic_shared<Shared<In, Scalar<Out>>>();
    if (threadIdx.x == 0) shared.init(CONSUMERS * 4);
    // sync: the barriers are ready
    __syncthreads();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    const int rank = static_cast<int>(ptx::cluster_ctarank());
    const int ranks = static_cast<int>(ptx::cluster_nctarank());
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x / ranks, GROUP);
    const auto steps = static_cast<int>(ceil_div(g.k, BK));
    const int begin = rank * steps / ranks, end = (rank + 1) * steps / ranks;
    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<CONSUMERS == 3 ? 32 : 40>();
      // The barriers of the cluster do not wait for threads that have ended.
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, tile, begin, end, shared);
    } else {
      ptx::setmaxnreg_inc<CONSUMERS == 3 ? 160 : 232>();
      consume(g, tile, end - begin, rank, ranks, shared);
    }
  }

  /// One thread: loads this block's part of k.
  template <class In, class Out, class Shared>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::TileCoord& tile, int begin, int end,
                                                 Shared& shared) {
    const int row = static_cast<int>(tile.row), col = static_cast<int>(tile.col);
    const int a_rows = cuda::rows_of_box<BM>(g.m), b_rows = cuda::rows_of_box<BN>(g.n);
    State state;
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      constexpr int stage_bytes = (BM + (B_K_MAJOR ? BN : B_EXTENT)) * 128;
      for (int step = begin; step < end; ++step) {
        const std::uint32_t full = shared.expect(state, stage_bytes);
        cuda::load_boxes<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, A_K_MAJOR, row,
                             step * BK, full, a_rows, g.m);
        cuda::load_boxes<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, B_K_MAJOR, col,
                             step * BK, full, b_rows, g.n);
        state.advance();
      }
    });
  }

  /// One warpgroup: 64 rows of the tile.
  template <class In, class Out, class Shared>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TileCoord& tile, int steps, int rank,
                                                 int ranks, Shared& shared) {
    const int group = cuda::warpgroup() - 1;
    using Sum = Scalar<Out>;
    Sum acc[J][4] = {};
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
      using BTile = cuda::SwizzledTile<B_EXTENT, B_K_MAJOR>;
      State state;
      cuda::multiply_stages<ATile, BTile, BN, In, false>(
          std::int64_t{steps} * BK, group * 64, shared, state,
          [&](int stage) RUNG_INLINE_LAMBDA { shared.release(stage); }, []() RUNG_INLINE_LAMBDA {},
          acc);
    });

    // exchange: a block adds up and stores some columns, and others read the rest from it
    // sync: all warpgroups have read the last stages
    const int thread = static_cast<int>(threadIdx.x) - 128;
    ptx::bar_sync(1, CONSUMERS * 128);
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      if (j * ranks / J == rank) continue;
      using Four = cuda::Vector<Sum, 4>;
      *reinterpret_cast<Four*>(shared.sums()[j][thread]) = {acc[j][0], acc[j][1], acc[j][2],
                                                            acc[j][3]};
    }
    // sync: the sums of all blocks are visible
    ptx::barrier_cluster_arrive_wait();
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      if (j * ranks / J != rank) continue;
      for (int other = 0; other < ranks; ++other) {
        if (other == rank) continue;
        ptx::add_shared_cluster(acc[j], ptx::cvta_to_shared(shared.sums()[j][thread]),
                                static_cast<std::uint32_t>(other));
      }
    }
    // sync: no block exits while others read its sums
    ptx::barrier_cluster_arrive_wait();

    // store
    const int warp = thread % 128 / 32;
    const std::int64_t row = tile.row + group * 64 + warp * 16 + cuda::accumulator_row();
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      if (j * ranks / J != rank) continue;
      const std::int64_t col = tile.col + j * 8 + cuda::accumulator_col();
      store_four(g, row, col, acc[j]);
    }
  }

  /// Stores elements (row, col), (row, col + 1), (row + 8, col) and (row + 8, col + 1).
  template <class In, class Out>
  static __device__ __forceinline__ void store_four(const Gemm<In, Out>& g, std::int64_t row,
                                                    std::int64_t col,
                                                    const Scalar<Out> (&sums)[4]) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::int64_t r = row + i / 2 * 8, c = col + i % 2;
      if (r < g.m && c < g.n) cuda::store(g, r, c, sums[i]);
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BN, BM, BK, THREADS, sizeof(Shared<In, Scalar<Out>>)};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& whole, const cuda::GemmConfig& config) {
    const Gemm<In, Out> g = cuda::maybe_transposed<true>(whole);
    constexpr int most = 8;  // blocks of a cluster
    const int splits = config.splits < most ? config.splits : most;
    return {.grid = {splits * cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Scalar<Out>>),
            .cluster = splits,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, cuda::rows_of_box<BM>(g.m)),
            .b = cuda::tensor_map_of_b(g, cuda::rows_of_box<BN>(g.n))};
  }
};

//                                    BM   BN  STAGES
using Rows104 = ClusterSplitTile<128, 104, 7>;
using Rows136 = ClusterSplitTile<128, 136, 5>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16
RUNG_CUDA_GEMM_TILES(wgmma_cluster_split, (0, Rows104, bf16, f16, bf16_bf16, f16_f16),
                     (1, Rows136, bf16, f16, bf16_bf16, f16_f16))
}  // namespace rung
