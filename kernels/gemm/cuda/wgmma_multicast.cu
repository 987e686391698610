// gemm/cuda/wgmma_multicast: tiles of any multiple of eight rows, alone or in pairs of blocks that
//   share a tile of B. Each block of a pair loads a half of it, and multicasts it to both.
// from: wgmma_tiles | removes: rows that tiles of 64 or 128 leave empty, idle SMs in waves that
//   tiles of other sizes fill, and L2 reads of the same columns of B by several blocks |
//   bottleneck: power, and L2 for rows at odd multiples of 16 bytes
// needs: sm_90a | try: rung bench gemm/cuda/wgmma_tiles gemm/cuda/wgmma_multicast
//   --dtype bf16-bf16 --layout nt --sizes 257x2880x4096

#include <type_traits>

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/transposed_boxes.cuh"
#include "device/cuda/load/multicast_load.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/overlapping_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/tile/transposed_product.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

/// A cluster has ROWS blocks, one or two, one below the other, which share the tile of B. C with
/// beta is read by threads, and other kernels are faster.
///
/// If TRANSPOSED, A, B, rows and columns below are those of the transposed product. A tile then has
/// BN rows of C, any multiple of eight, and BM columns.
///
/// A tile of 64 x 64 takes less time for a k-block than rows outside, so that its tiles overlap.
template <int BM, int BN, int ROWS, bool TRANSPOSED = false>
struct MulticastTile {
  static constexpr bool OVERLAPS = BM * BN == 64 * 64 && ROWS == 1 && !TRANSPOSED;
  using Tiles = cuda::OverlappingTiles<BM, BN, OVERLAPS>;
  static constexpr int BK = 64;
  // Rows of clusters per swizzle group. The 16 tiles of a GPC, whose requests for the same lines
  // may be merged, form a square if a tile has 64 columns.
  static constexpr unsigned GROUP = BN == 64 ? 4 : 1024 / (ROWS * BM) > 1 ? 1024 / (ROWS * BM) : 1;
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  // Columns of B in shared memory: MN-major boxes have 64.
  static constexpr int B_EXTENT = (BN + 63) / 64 * 64;
  using Scheduler = cuda::TileScheduler<BM, BN, BK, ROWS>;

  template <class Out>
  using Boxes = std::conditional_t<OVERLAPS, cuda::TmaStoreEpilogue<BN, Out>,
                                   cuda::BoxesOfResults<BN, Out, 1, TRANSPOSED>>;
  /// As many stages as fit beside the boxes and 1 KB of barriers in the 227 KB of a block.
  template <class Out>
  static constexpr int stages() {
    return static_cast<int>((226 * 1024 - CONSUMERS * sizeof(Boxes<Out>)) /
                            ((BM + B_EXTENT) * 128));
  }
  template <class Out>
  using State = cuda::PipelineState<stages<Out>()>;

  template <class In, class Out>
  struct Shared : cuda::StageBarriers<stages<Out>(), ROWS> {
    alignas(1024) In As[stages<Out>()][BM * BK];
    alignas(1024) In Bs[stages<Out>()][B_EXTENT * BK];
    Boxes<Out> Cs[CONSUMERS];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& whole,
                                                const cuda::TensorMaps& maps) {
    const Gemm<In, Out> g = cuda::maybe_transposed<TRANSPOSED>(whole);
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) shared.init(CONSUMERS * 4);
    ptx::barrier_cluster_arrive_wait();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<CONSUMERS == 3 ? 32 : 40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, shared);
    } else {
      ptx::setmaxnreg_inc<CONSUMERS == 3 ? 160 : 232>();
      consume(g, whole, maps, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// The columns of B in a box of a K-major operand.
  static constexpr int cols_of_box(std::int64_t n) {
    return cuda::rows_of_box<BN, cuda::rows_of_share<BN, ROWS>()>(n);
  }

  /// One thread: loads its part of each stage as soon as all blocks of the cluster have read the
  /// stage.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 Shared<In, Out>& shared) {
    constexpr int LOADED = cuda::rows_of_share<BN, ROWS>() * ROWS;
    static_assert(LOADED <= B_EXTENT);
    const int rank = static_cast<int>(ptx::cluster_ctarank());
    const int in_box = cols_of_box(g.n);
    const Tiles tiles(g);
    State<Out> state;
    Scheduler(g, 1).for_each(
        g, GROUP * ROWS,
        [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const cuda::OverlappingTile first = tiles.at(tile);
          const int row = static_cast<int>(first.row), col = static_cast<int>(first.col);
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            constexpr int stage_bytes = (BM + (B_K_MAJOR ? LOADED : B_EXTENT)) * 128;
            for (int k = 0; k < work.k_end; k += BK) {
              // load: this block's rows of A, and its share of B for all; theirs count here, too
              const std::uint32_t full = shared.expect(state, stage_bytes);
              cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, A_K_MAJOR,
                                  row, k, full);
              cuda::load_share<BN, ROWS>(rank, ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b,
                                         B_K_MAJOR, col, k, full, in_box, g.n);
              state.advance();
            }
          });
        });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g, const Gemm<In, Out>& whole,
                                                 const cuda::TensorMaps& maps,
                                                 Shared<In, Out>& shared) {
    const int group = cuda::warpgroup() - 1;
    const bool by_tma = cuda::can_tma_store(whole);
    const Tiles tiles(g);
    State<Out> state;
    Scheduler(g, 1).for_each(
        g, GROUP * ROWS,
        [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          Scalar<Out> acc[BN / 8][4] = {};
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
            using BTile = cuda::SwizzledTile<B_EXTENT, B_K_MAJOR>;
            cuda::multiply_stages<ATile, BTile, BN, In>(
                work.k_end, group * 64, shared, state,
                [&](int stage) RUNG_INLINE_LAMBDA { shared.release(stage); },
                []() RUNG_INLINE_LAMBDA {}, acc);
          });
          // store
          if constexpr (OVERLAPS) {
            const auto [row, col, skipped_rows, skipped_cols] = tiles.at(tile);
            shared.Cs[group].store_rest(g, maps.c, row, col, acc, 1 + group, by_tma, g.alpha,
                                        skipped_rows, skipped_cols);
          } else {
            shared.Cs[group].store(whole, maps.c, tile.row + group * 64, tile.col, acc, 1 + group,
                                   by_tma);
          }
        });
    shared.Cs[group].wait();
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {TRANSPOSED ? BN : BM, TRANSPOSED ? BM : BN, BK, THREADS, sizeof(Shared<In, Out>), ROWS};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& whole, const cuda::GemmConfig&) {
    const Gemm<In, Out> g = cuda::maybe_transposed<TRANSPOSED>(whole);
    return {.grid = {ROWS * cuda::tiles_of_c<ROWS * BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Out>),
            .cluster = ROWS,
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, cols_of_box(g.n)),
            .c = Boxes<Out>::map(whole)};
  }
};

//                            BM   BN  ROWS
using Small = MulticastTile<64, 64, 1>;
using Wide160 = MulticastTile<128, 160, 2>;
using Wide176 = MulticastTile<128, 176, 2>;
// C in tiles of BN rows and BM columns, clusters of ROWS columns.
using Rows80 = MulticastTile<64, 80, 2, true>;
using Rows136 = MulticastTile<64, 136, 1, true>;
using Rows160 = MulticastTile<64, 160, 1, true>;
using Rows176 = MulticastTile<64, 176, 1, true>;
using Rows96By128 = MulticastTile<128, 96, 2, true>;
using Rows144By128 = MulticastTile<128, 144, 2, true>;
using Rows160By128 = MulticastTile<128, 160, 2, true>;
using Rows176By128 = MulticastTile<128, 176, 2, true>;
using Rows208By128 = MulticastTile<128, 208, 2, true>;
using Rows160By192 = MulticastTile<192, 160, 2, true>;
using Rows176By192 = MulticastTile<192, 176, 2, true>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16
RUNG_CUDA_GEMM_TILES(wgmma_multicast, (0, Small, bf16, f16, bf16_bf16, f16_f16),
                     (1, Wide160, bf16, f16, bf16_bf16, f16_f16),
                     (2, Wide176, bf16, f16, bf16_bf16, f16_f16),
                     (3, Rows80, bf16, f16, bf16_bf16, f16_f16),
                     (4, Rows136, bf16, f16, bf16_bf16, f16_f16),
                     (5, Rows160, bf16, f16, bf16_bf16, f16_f16),
                     (6, Rows176, bf16, f16, bf16_bf16, f16_f16),
                     (7, Rows96By128, bf16, f16, bf16_bf16, f16_f16),
                     (8, Rows144By128, bf16, f16, bf16_bf16, f16_f16),
                     (9, Rows160By128, bf16, f16, bf16_bf16, f16_f16),
                     (10, Rows176By128, bf16, f16, bf16_bf16, f16_f16),
                     (11, Rows208By128, bf16, f16, bf16_bf16, f16_f16),
                     (12, Rows160By192, bf16, f16, bf16_bf16, f16_f16),
                     (13, Rows176By192, bf16, f16, bf16_bf16, f16_f16))
}  // namespace rung
