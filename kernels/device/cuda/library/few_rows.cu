// Products of at most 64 rows for mode batch_invariant, with the summation order of
// tile/invariant_parts.hpp. Narrow tiles occupy more SMs. So do clusters whose blocks share the
// parts of k of a tile and add up their sums through distributed shared memory. A stage has several
// k-blocks, because waiting for a stage takes longer than multiplying one k-block. Registered like
// a rung, but not on the ladder.
// bottleneck: the chain of matrix instructions of a part, 50 clocks each; waves of tiles
// needs: sm_90a, a K-major A

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/short_tiles.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/ld_shared_cluster.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma_widths.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/invariant_parts.hpp"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

/// K_BLOCKS: k-blocks per stage.
template <int BN, bool B_K_MAJOR, int K_BLOCKS, int STAGES>
struct FewRows {
  static constexpr int BM = 64, BK = 64;
  static constexpr int THREADS = 256;
  static constexpr int LD = BN + 8;  // row pitch of sums: rows begin in different banks
  using State = cuda::PipelineState<STAGES>;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES * K_BLOCKS][BM * BK];
    alignas(1024) In Bs[STAGES][K_BLOCKS][BN * BK];
    alignas(16) float sums[cuda::parts_of_follower][BM * LD];
    cuda::StageBarriers<STAGES, 1> barriers;
  };

  /// The work of a block: a tile of all rows for some parts of k. The blocks of a cluster share one
  /// tile; the parts are divided in rank order.
  struct Work {
    int col, rank, ranks, parts;

    template <class In, class Out>
    __device__ __forceinline__ Work(const Gemm<In, Out>& g, int blocks)
        : col(static_cast<int>(blockIdx.x) / blocks * BN),
          rank(static_cast<int>(blockIdx.x) % blocks),
          ranks(blocks),
          parts(cuda::invariant_parts(g.k)) {}

    /// The first part of a rank.
    __device__ __forceinline__ int first(int of_rank) const { return parts * of_rank / ranks; }
    /// The number of sums that a rank stores in shared memory. Rank 0 has the first parts and adds
    /// them up itself.
    __device__ __forceinline__ int sums(int of_rank) const {
      return of_rank == 0 ? 1 : first(of_rank + 1) - first(of_rank);
    }
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::SplitK& split_k) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) shared.barriers.init(4);
    // sync: the barriers are initialized
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    const Work work(g, split_k.splits);
    if (threadIdx.x < 128) {
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, work, shared);
    } else {
      consume(g, work, shared);
    }
    if (work.ranks == 1) return;

    // sync: the sums of all blocks are complete
    ptx::barrier_cluster_arrive_wait();
    store_sums(g, work, shared);
    // sync: no block exits while another may still read its sums
    ptx::barrier_cluster_arrive_wait();
  }

  /// Calls f(i, k_begin, k_end) for each part i of the block, counted from its first part.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_each_part(const Gemm<In, Out>& g, const Work& work,
                                                       const F& f) {
    const int first = work.first(work.rank), end = work.first(work.rank + 1);
    for (int part = first; part < end; ++part) {
      f(part - first, cuda::begin_of_invariant_part(g.k, part),
        cuda::begin_of_invariant_part(g.k, part + 1));
    }
  }

  /// One thread: loads each stage as soon as it is empty. If a part ends within a stage, the rest
  /// of the stage is loaded from outside k, as zeros.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps, const Work& work,
                                                 Shared<In>& shared) {
    const int bytes = K_BLOCKS * (cuda::loaded_extent<BM>(g.m) + BN) * 128;
    // A multiple of 64 that is at least k. k itself may not be a multiple of 16 bytes, where a box
    // must begin.
    const std::int64_t beyond = cuda::begin_of_invariant_part(g.k, work.parts);
    State state;
    for_each_part(g, work, [&](int, std::int64_t k_begin, std::int64_t k_end) RUNG_INLINE_LAMBDA {
      for (std::int64_t k0 = k_begin; k0 < k_end; k0 += K_BLOCKS * BK) {
        const std::uint32_t full = shared.barriers.expect(state, bytes);
        RUNG_UNROLL
        for (int i = 0; i < K_BLOCKS; ++i) {
          const std::int64_t begin = k0 + i * BK;
          const int k = static_cast<int>(begin < k_end ? begin : beyond);
          cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage * K_BLOCKS + i]), maps.a,
                              true, 0, k, full);
          cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage][i]), maps.b, B_K_MAJOR,
                              work.col, k, full);
        }
        state.advance();
      }
    });
  }

  /// One warpgroup: computes the tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g, const Work& work,
                                                 Shared<In>& shared) {
    clear_rest(cuda::loaded_extent<BM>(g.m), shared);
    float total[BN / 8][4] = {};
    State state;
    for_each_part(g, work, [&](int i, std::int64_t k_begin, std::int64_t k_end) RUNG_INLINE_LAMBDA {
      float acc[BN / 8][4] = {};
      multiply(k_begin, k_end, shared, state, acc);
      if (work.rank > 0) {
        keep(acc, shared.sums[i]);
      } else {
        RUNG_UNROLL
        for (int j = 0; j < BN / 8; ++j) {
          RUNG_UNROLL
          for (int e = 0; e < 4; ++e) total[j][e] += acc[j][e];
        }
      }
    });
    if (work.rank > 0) return;
    if (work.ranks > 1) {
      keep(total, shared.sums[0]);
    } else {
      cuda::store_m64(g, 0, work.col, total);
    }
  }

  /// acc += A times B for a part of k.
  template <class In>
  static __device__ __forceinline__ void multiply(std::int64_t k_begin, std::int64_t k_end,
                                                  Shared<In>& shared, State& state,
                                                  float (&acc)[BN / 8][4]) {
    int before = 0;
    for (std::int64_t k0 = k_begin; k0 < k_end; k0 += K_BLOCKS * BK) {
      // sync: the tiles have arrived
      shared.barriers.wait_until_full(state);

      // multiply
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int i = 0; i < K_BLOCKS; ++i) add_block(shared, state.stage, i, acc);
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > k_begin) shared.barriers.release(before);
      before = state.stage;
      state.advance();
    }
    ptx::wgmma_wait_group<0>(acc);
    if (k_begin < k_end) shared.barriers.release(before);
  }

  /// acc += A times B for k-block i of a stage.
  template <class In>
  static __device__ __forceinline__ void add_block(Shared<In>& shared, int stage, int i,
                                                   float (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledTile<BM, true>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
    const std::uint32_t a = ptx::cvta_to_shared(shared.As[stage * K_BLOCKS + i]);
    const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[stage][i]);
    RUNG_UNROLL
    for (int k = 0; k < BK; k += 16) {
      const std::uint64_t a_steps = ATile::descriptor(a, 0, k),
                          b_steps = BTile::descriptor(b, 0, k);
      if constexpr (BN == 32) {
        ptx::wgmma_m64_of_width<In, false, false>(acc, a_steps, b_steps);
      } else {
        ptx::wgmma_m64<In, false, !B_K_MAJOR>(acc, a_steps, b_steps);
      }
    }
  }

  /// Zeros the rows of A that are not loaded.
  template <class In>
  static __device__ __forceinline__ void clear_rest(int rows, Shared<In>& shared) {
    if (rows == BM) return;
    cuda::clear_rest<128>(shared.As, rows, true, static_cast<int>(threadIdx.x) - 128);
    // sync: wgmma sees the zeros of all threads
    ptx::fence_proxy_async();
    ptx::bar_sync(1, 128);
  }

  /// Writes sums to shared memory, where all blocks of the cluster read them.
  static __device__ __forceinline__ void keep(const float (&acc)[BN / 8][4], float* sums) {
    const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
    RUNG_UNROLL
    for (int e = 0; e < 4; e += 2) {
      const int row = warp * 16 + cuda::accumulator_row() + e * 4;
      RUNG_UNROLL
      for (int j = 0; j < BN / 8; ++j) {
        float* const to = sums + row * LD + cuda::accumulator_col() + j * 8;
        *reinterpret_cast<cuda::Vector<float, 2>*>(to) = {acc[j][e], acc[j][e + 1]};
      }
    }
  }

  /// Called by all threads of the cluster: each adds up the sums of pairs of elements and stores
  /// them.
  template <class In, class Out>
  static __device__ __forceinline__ void store_sums(const Gemm<In, Out>& g, const Work& work,
                                                    const Shared<In>& shared) {
    constexpr int PAIRS = BN / 2;  // pairs per row
    const auto rows = static_cast<int>(g.m);
    RUNG_NO_UNROLL
    for (int i = work.rank * THREADS + static_cast<int>(threadIdx.x); i < rows * PAIRS;
         i += work.ranks * THREADS) {
      const int row = i / PAIRS, col = i % PAIRS * 2;
      cuda::Vector<float, 2> theirs[cuda::max_few_rows_ranks][cuda::parts_of_follower];
      RUNG_UNROLL
      for (int rank = 0; rank < cuda::max_few_rows_ranks; ++rank) {
        const int sums = rank < work.ranks ? work.sums(rank) : 0;
        RUNG_UNROLL
        for (int s = 0; s < cuda::parts_of_follower; ++s) {
          theirs[rank][s] = {};
          if (s < sums) {
            ptx::ld_shared_cluster(theirs[rank][s],
                                   ptx::cvta_to_shared(&shared.sums[s][row * LD + col]),
                                   static_cast<std::uint32_t>(rank));
          }
        }
      }
      float first = 0, second = 0;
      RUNG_UNROLL
      for (const auto& of_rank : theirs) {
        RUNG_UNROLL
        for (const auto& sum : of_rank) first += sum.at[0], second += sum.at[1];
      }
      cuda::store_pair(g, row, work.col + col, first, second);
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared<In>)};
  }

  /// `chosen.splits`: blocks that share a tile, one cluster.
  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    return {.grid = {ceil_div(g.n, BN) * chosen.splits},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In>),
            .cluster = chosen.splits,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, cuda::loaded_extent<BM>(g.m)),
            .b = cuda::tensor_map_of_b(g, BN)};
  }
};

//                       BN B_K_MAJOR K_BLOCKS STAGES
using Narrow = FewRows<32, true, 4, 4>;
using Wide = FewRows<64, true, 2, 5>;
using MnMajor = FewRows<64, false, 2, 5>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16
RUNG_CUDA_GEMM_TILES(library_few_rows, (0, Narrow, bf16, f16, bf16_bf16, f16_f16),
                     (1, Wide, bf16, f16, bf16_bf16, f16_f16),
                     (2, MnMajor, bf16, f16, bf16_bf16, f16_f16))

}  // namespace rung
