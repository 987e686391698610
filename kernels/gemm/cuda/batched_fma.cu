// gemm/cuda/batched_fma: batches of float products with TMA and FMAs: in persistent blocks, a
//   producer warp loads the next product while the others multiply and store.
// from: batched_wgmma | removes: copies by all threads, and exposed load latency | bottleneck: the
//   FMA pipe from 64 rows on, device memory below
// needs: sm_90 | try: rung bench gemm/cuda/small_matrices gemm/cuda/batched_fma --batch 99 --sizes
//   96

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/batch_tile_times.hpp"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_fragment.cuh"
#include "device/cuda/tile/thread_group.cuh"

namespace rung {
namespace {

/// A tile of C is BM x BN; each consumer thread computes TM x TN of it.
template <int BM_, int BN_, int TM, int TN, int STAGES, int BLOCKS>
struct BatchedFma {
  static constexpr int BM = BM_;
  static constexpr int BN = BN_;
  static constexpr int BK = 32;  // rows of 128 bytes
  static constexpr int LANES_M = BM / TM;
  static constexpr int LANES_N = BN / TN;
  static constexpr int CONSUMERS = LANES_M * LANES_N;  // threads
  static constexpr int THREADS = CONSUMERS + 32;       // the last warp is the producer
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  static_assert(CONSUMERS % 32 == 0);
  using State = cuda::PipelineState<STAGES>;
  using Warp = cuda::ThreadGroup<32, CONSUMERS>;

  /// Rows or columns of all boxes of an MN-major tile, each 32 wide.
  static constexpr int in_boxes(int extent) { return (extent + BK - 1) / BK * BK; }

  struct Shared : cuda::StageBarriers<STAGES, 1> {
    alignas(1024) float As[STAGES][in_boxes(BM) * BK];
    alignas(1024) float Bs[STAGES][in_boxes(BN) * BK];
  };

  static __device__ __forceinline__ void kernel(const Gemm<float, float>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::Products& products) {
    auto& shared = cuda::dynamic_shared<Shared>();
    if (threadIdx.x == 0) shared.init(CONSUMERS / 32);
    // sync: the mbarriers are initialised
    __syncthreads();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < CONSUMERS) {
      cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
        consume<A_K_MAJOR, B_K_MAJOR>(g, products, shared);
      });
    } else if (threadIdx.x == CONSUMERS) {
      produce(g, maps, products, shared);
    }
  }

  /// Calls f(product, tile) for each tile of C that this block computes, product by product.
  template <class F>
  static __device__ __forceinline__ void for_each_tile(const Gemm<float, float>& g,
                                                       const cuda::Products& products, const F& f) {
    const auto cols = static_cast<unsigned>(cuda::ceil_div(g.n, BN));
    const auto tiles = static_cast<unsigned>(cuda::tiles_of_c<BM, BN>(g));
    const auto count = tiles * static_cast<unsigned>(products.count);
    for (unsigned number = blockIdx.x; number < count; number += gridDim.x) {
      const unsigned product = number / tiles;
      const unsigned tile = number - product * tiles;
      f(static_cast<int>(product),
        cuda::TileCoord{std::int64_t{tile / cols} * BM, std::int64_t{tile % cols} * BN});
    }
  }

  /// One thread: loads each stage as soon as it is empty.
  static __device__ __forceinline__ void produce(const Gemm<float, float>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Products& products, Shared& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const int bytes = 128 * ((a_k_major ? BM : in_boxes(BM)) + (b_k_major ? BN : in_boxes(BN)));
    State state;
    for_each_tile(g, products, [&](int product, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      // An operand that all products share is a single matrix.
      const int a_product = products.a.stride == 0 ? 0 : product;
      const int b_product = products.b.stride == 0 ? 0 : product;
      for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
        // load
        const std::uint32_t full = shared.expect(state, bytes);
        const int k = static_cast<int>(k0);
        load<BM>(a_product, ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major,
                 static_cast<int>(tile.row), k, full);
        load<BN>(b_product, ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, b_k_major,
                 static_cast<int>(tile.col), k, full);
        state.advance();
      }
    });
  }

  /// Issues the loads of a tile of one product: a box, or a box per 32 rows of an MN-major tile.
  template <int EXTENT>
  static __device__ __forceinline__ void load(int product, std::uint32_t tile,
                                              const cuda::EncodedTensorMap& map, bool k_major,
                                              int e, int k, std::uint32_t barrier) {
    if (k_major) {
      ptx::tma_load_3d(tile, &map, k, e, product, barrier);
      return;
    }
    RUNG_UNROLL
    for (int part = 0; part < EXTENT; part += BK) {
      ptx::tma_load_3d(tile + part * 128, &map, e + part, k, product, barrier);
    }
  }

  /// All other warps: each thread computes TM x TN results of each tile.
  template <bool A_K_MAJOR, bool B_K_MAJOR>
  static __device__ __forceinline__ void consume(const Gemm<float, float>& g,
                                                 const cuda::Products& products, Shared& shared) {
    using A = cuda::SwizzledFragment<TM, LANES_M, A_K_MAJOR>;
    using B = cuda::SwizzledFragment<TN, LANES_N, B_K_MAJOR>;
    const int lane_m = static_cast<int>(threadIdx.x) / LANES_N;
    const int lane_n = static_cast<int>(threadIdx.x) % LANES_N;
    State state;
    for_each_tile(g, products, [&](int product, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      float acc[TM][TN] = {};
      for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
        // sync: the tiles have arrived
        shared.wait_until_full(state);
        const int steps = g.k - k0 < BK ? static_cast<int>(g.k - k0) : BK;
        multiply<A, B>(shared.As[state.stage], shared.Bs[state.stage], lane_m, lane_n, steps, acc);
        // sync: all lanes have read the stage
        Warp::sync();
        shared.release(state.stage);
        state.advance();
      }

      Gemm<float, float> one = g;
      one.c.data += product * products.c.stride;
      store<A, B>(one, tile.row + A::Places::first(lane_m), tile.col + B::Places::first(lane_n),
                  acc);
    });
  }

  /// acc += `steps` steps, padded with zeros to a multiple of 8.
  template <class A, class B>
  static __device__ __forceinline__ void multiply(const float* a, const float* b, int lane_m,
                                                  int lane_n, int steps, float (&acc)[TM][TN]) {
    RUNG_NO_UNROLL
    for (int k8 = 0; k8 < steps; k8 += 8) {
      RUNG_UNROLL
      for (int k = 0; k < 8; k += 4) {
        float a_frag[4][TM], b_frag[4][TN];
        A::load(a_frag, a, lane_m, k8 + k);
        B::load(b_frag, b, lane_n, k8 + k);
        RUNG_UNROLL
        for (int s = 0; s < 4; ++s) cuda::add_outer_product(acc, a_frag[s], b_frag[s]);
      }
    }
  }

  /// Stores a thread's results from element (row, col) of C on.
  template <class A, class B>
  static __device__ __forceinline__ void store(const Gemm<float, float>& g, std::int64_t row,
                                               std::int64_t col, const float (&acc)[TM][TN]) {
    if (g.beta == 0.0f && cuda::has_aligned_rows(g) && g.n % B::W == 0) {
      return store_vectors<A, B>(g, row, col, acc);
    }
    // A copy in local memory: sums in registers would need unrolled code with a store for each.
    float sums[TM][TN];
    RUNG_UNROLL
    for (int i = 0; i < TM; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < TN; ++j) sums[i][j] = acc[i][j];
    }
    RUNG_NO_UNROLL
    for (int i = 0; i < TM; ++i) {
      RUNG_NO_UNROLL
      for (int j = 0; j < TN; j += B::W) {
        store_some<B::W>(g, row + A::Places::offset(i), col + B::Places::offset(j), &sums[i][j]);
      }
    }
  }

  /// Likewise if rows of C are aligned, consist of whole vectors, and are not read.
  template <class A, class B>
  static __device__ __forceinline__ void store_vectors(const Gemm<float, float>& g,
                                                       std::int64_t row, std::int64_t col,
                                                       const float (&acc)[TM][TN]) {
    const int rows = static_cast<int>(g.m - row < BM ? g.m - row : BM);
    const int cols = static_cast<int>(g.n - col < BN ? g.n - col : BN);
    float* to = g.c.data + row * g.c.row_stride + col;
    RUNG_UNROLL
    for (int i = 0; i < TM; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < TN; j += B::W) {
        if (A::Places::offset(i) >= rows || B::Places::offset(j) >= cols) continue;
        cuda::Vector<float, B::W> results;
        RUNG_UNROLL
        for (int w = 0; w < B::W; ++w) results.at[w] = g.alpha * acc[i][j + w];
        *reinterpret_cast<cuda::Vector<float, B::W>*>(to + B::Places::offset(j)) = results;
      }
      if (i + 1 < TM) to += (A::Places::offset(i + 1) - A::Places::offset(i)) * g.c.row_stride;
    }
  }

  /// Stores the existing elements of W neighbours along a row.
  template <int W>
  static __device__ __forceinline__ void store_some(const Gemm<float, float>& g, std::int64_t row,
                                                    std::int64_t col, const float* sums) {
    if constexpr (W == 4) cuda::store_vector(g, row, col, sums);
    if constexpr (W == 2) cuda::store_pair(g, row, col, sums[0], sums[1]);
    if (W == 1 && row < g.m && col < g.n) cuda::store(g, row, col, sums[0]);
  }

  template <class In, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared), 1, 0, 0, TM, TN};
  }

  static cuda::Launch launch(const Gemm<float, float>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .products_per_block = 1,
            .persistent = true,
            .blocks_per_sm = BLOCKS,
            .starts_early = true,
            .a = cuda::of_batch(cuda::tensor_map_of_a(g, BM)),
            .b = cuda::of_batch(cuda::tensor_map_of_b(g, BN))};
  }

  template <class T>
  static cuda::GemmConfig choose(const Gemm<T, T>& g, int /*multiprocessors*/) {
    return {.tile = cuda::fastest_tile_of_rung_65(g.m, g.n)};
  }
};

//                            BM  BN  TM TN STAGES BLOCKS
using FortyEight = BatchedFma<48, 48, 6, 4, 2, 4>;
using SixtyFour = BatchedFma<64, 64, 8, 8, 3, 4>;
using NinetySix = BatchedFma<96, 96, 12, 6, 3, 2>;

}  // namespace

RUNG_CUDA_GEMM_TILES(batched_fma, (0, FortyEight, f32), (1, SixtyFour, f32), (2, NinetySix, f32))

}  // namespace rung
