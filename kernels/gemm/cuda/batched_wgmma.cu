// gemm/cuda/batched_wgmma: batches with TMA and wgmma: persistent blocks iterate over products, and
//   a producer warp loads the next product while the consumers multiply and store.
// from: small_mma | removes: the exposed latency of a product's loads, which only other blocks
//   could hide | bottleneck: device memory; up to 32 rows, TMA boxes that the products do not fill
// needs: sm_90a | try: rung bench gemm/cuda/small_mma gemm/cuda/batched_wgmma --dtype bf16 --batch
//   4096 --sizes 64

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES, int BLOCKS>
struct BatchedWgmma {
  static constexpr int CONSUMERS = BM / 64;             // warpgroups
  static constexpr int THREADS = CONSUMERS * 128 + 32;  // the last warp is the producer
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  template <class In>
  static constexpr int BK = 128 / sizeof(In);  // rows of 128 bytes

  template <class In, class Out>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK<In>];
    alignas(1024) In Bs[STAGES][BN * BK<In>];
    cuda::TmaStoreEpilogue<BN, Out> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // all consumers have read them
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::Products& products) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    // sync: the mbarriers are initialised
    __syncthreads();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < CONSUMERS * 128) {
      consume(g, maps, products, shared);
    } else if (threadIdx.x == CONSUMERS * 128) {
      produce(g, maps, products, shared);
    }
  }

  /// Calls f(product, tile) for each tile of C that this block computes, product by product.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_each_tile(const Gemm<In, Out>& g,
                                                       const cuda::Products& products, const F& f) {
    const auto cols = static_cast<unsigned>(ceil_div(g.n, BN));
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
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Products& products,
                                                 Shared<In, Out>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    cuda::PipelineState<STAGES> state;
    for_each_tile(g, products, [&](int product, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      // An operand that all products share is a single matrix.
      const int a_product = products.a.stride == 0 ? 0 : product;
      const int b_product = products.b.stride == 0 ? 0 : product;
      for (std::int64_t k0 = 0; k0 < g.k; k0 += BK<In>) {
        // sync: the stage is empty, as all are in the first round
        ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                  state.parity ^ 1);

        // load
        const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
        const int k = static_cast<int>(k0);
        ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
        cuda::load_tile_of<BM>(a_product, ptx::cvta_to_shared(shared.As[state.stage]), maps.a,
                               a_k_major, static_cast<int>(tile.row), k, full);
        cuda::load_tile_of<BN>(b_product, ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b,
                               b_k_major, static_cast<int>(tile.col), k, full);
        state.advance();
      }
    });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Products& products,
                                                 Shared<In, Out>& shared) {
    const int group = cuda::warpgroup();
    cuda::PipelineState<STAGES> state;
    for_each_tile(g, products, [&](int product, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      Scalar<Out> acc[BN / 8][4] = {};
      cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
        multiply<A_K_MAJOR, B_K_MAJOR>(g.k, group * 64, shared, state, acc);
      });
      shared.Cs[group].store_of(product, g, products.c, maps.c, tile.row + group * 64, tile.col,
                                acc, 1 + group);
    });
    shared.Cs[group].wait();
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row,
                                                  Shared<In, Out>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  Scalar<Out> (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledTile<BM, A_K_MAJOR, sizeof(In)>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR, sizeof(In)>;
    const auto release = [&](int stage) RUNG_INLINE_LAMBDA {
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.empty[stage]));
    };
    const auto issued = []() RUNG_INLINE_LAMBDA {};
    cuda::multiply_stages<ATile, BTile, BN, In>(steps, group_row, shared, state, release, issued,
                                                acc);
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In, Out>)};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig&) {
    // With one tile per product, blocks that are not persistent balance the last wave: 7 % faster
    // at 128 x 128 x 128, 3 % at 64 x 64 x 64. With less to load, starting blocks would take
    // longer.
    const bool is_one_tile = BM == BN && g.m == BM && g.n == BN && g.k >= 64;
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Out>),
            .products_per_block = 1,
            .persistent = !is_one_tile,
            .blocks_per_sm = BLOCKS,
            .starts_early = true,
            .a = cuda::of_batch(cuda::tensor_map_of_a(g, BM)),
            .b = cuda::of_batch(cuda::tensor_map_of_b(g, BN)),
            .c = cuda::can_tma_store(g) ? cuda::of_batch(cuda::tensor_map_of_c(g, 64))
                                        : cuda::TensorMapSpec{}};
  }

  /// Expected time of a product in whole tiles, from the rates measured on a full H200.
  template <class In, class Out>
  static constexpr double time(const Gemm<In, Out>& g) {
    constexpr double of_result = BN == 256 ? 0.93 : BN == 64 ? 1.2 : 1.0;
    return of_result * static_cast<double>(cuda::tiles_of_c<BM, BN>(g) * BM * BN);
  }

  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int multiprocessors);
};

//                          BM   BN  STAGES BLOCKS
using Small = BatchedWgmma<64, 64, 2, 4>;
using Large = BatchedWgmma<128, 128, 2, 2>;
using Flat = BatchedWgmma<64, 192, 2, 2>;
using Larger = BatchedWgmma<128, 256, 3, 1>;
// 8-bit floats keep two sums of each result in registers.
using Promoted = BatchedWgmma<64, 128, 3, 2>;

template <int BM, int BN, int STAGES, int BLOCKS>
template <class In, class Out>
cuda::GemmConfig BatchedWgmma<BM, BN, STAGES, BLOCKS>::choose(const Gemm<In, Out>& g,
                                                              int /*multiprocessors*/) {
  constexpr int count = sizeof(In) == 2 ? 4 : 2;
  const double second = cuda::is_promoted<In> ? Promoted::time(g) : Large::time(g);
  const double times[] = {Small::time(g), second, Flat::time(g), Larger::time(g)};
  int best = 0;
  for (int tile = 1; tile < count; ++tile) {
    if (times[tile] < times[best]) best = tile;
  }
  return {.tile = best};
}

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16 tf32 i8 e4m3 e5m2
RUNG_CUDA_GEMM_TILES(batched_wgmma, (0, Small, bf16, f16, bf16_bf16, f16_f16, tf32, i8, e4m3, e5m2),
                     (1, Large, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (2, Flat, bf16, f16, bf16_bf16, f16_f16),
                     (3, Larger, bf16, f16, bf16_bf16, f16_f16), (1, Promoted, e4m3, e5m2))

}  // namespace rung
