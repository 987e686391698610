// gemm/cuda/31_dependent_launch: programmatic dependent launch: blocks start before the previous
//   kernel has finished, then wait for its writes with griddepcontrol.wait.
// from: 30_split_k | removes: most of the gap between two launches | bottleneck: power and, for
//   small results, the rest of the gap
// needs: sm_90a | try: rung bench gemm/cuda/30 gemm/cuda/31 --device gpu --dtype bf16 --sizes 1024

#include "device/cuda/boxes.cuh"
#include "device/cuda/layouts.cuh"
#include "device/cuda/map_tiles.cuh"
#include "device/cuda/pieces.cuh"
#include "device/cuda/promoted_sums.cuh"
#include "device/cuda/ptx_barrier.cuh"
#include "device/cuda/ptx_wgmma.cuh"
#include "device/cuda/result_boxes.cuh"
#include "device/cuda/ring.cuh"
#include "device/cuda/shared.cuh"
#include "device/cuda/shared_sums.cuh"
#include "device/cuda/swizzled_lines.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES, int CLUSTER>
struct DependentTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr unsigned MOST_SHARING = cuda::most_sharing_blocks / CLUSTER;
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  template <class In>
  static constexpr int BK = 128 / sizeof(In);  // rows of 128 bytes

  template <class In, class Out>
  struct Shared {
    static_assert(cuda::is_read_along_k<In> || BN / CLUSTER % 64 == 0, "boxes have 64 columns");
    alignas(1024) In As[STAGES][BM * BK<In>];
    alignas(1024) In Bs[STAGES][BN * BK<In>];
    cuda::ResultBoxes<BN, Out> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads in the cluster are done
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::Split& split) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CLUSTER * CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x == 0) produce(g, maps, split, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, split, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// Calls f(piece, tile) for each work tile of this block; a cluster's tiles are stacked in m.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_pieces(const Gemm<In, Out>& g, int splits,
                                                    const F& f) {
    const cuda::Pieces pieces(static_cast<unsigned>(cuda::tiles_of_c<CLUSTER * BM, BN>(g)),
                              cuda::ceil_div(g.k, BK<In>), gridDim.x / CLUSTER, MOST_SHARING,
                              splits);
    for (unsigned number = blockIdx.x / CLUSTER; number < pieces.count();
         number += gridDim.x / CLUSTER) {
      const cuda::Piece piece = pieces.template at<BK<In>>(number);
      const cuda::Tile both =
          cuda::tile_in_groups<CLUSTER * BM, BN>(g, piece.tile, GROUP / CLUSTER);
      f(piece, cuda::Tile{both.row + ptx::cluster_ctarank() * BM, both.col});
    }
  }

  /// One thread: issues the loads of each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Split& split,
                                                 Shared<In, Out>& shared) {
    const bool a_along_k = cuda::operand_a(g).is_along_k();
    const bool b_along_k = cuda::operand_b(g).is_along_k();
    constexpr int PART = BN / CLUSTER;
    const int my_part = static_cast<int>(ptx::cluster_ctarank()) * PART;
    cuda::Ring<STAGES> ring;
    for_pieces(
        g, split.splits, [&](const cuda::Piece& piece, const cuda::Tile& tile) RUNG_INLINE_LAMBDA {
          const int row = static_cast<int>(tile.row);
          const int col = static_cast<int>(tile.col);
          for (std::int64_t k0 = piece.k_begin; k0 < piece.k_end; k0 += BK<In>) {
            // sync: wait for a stage that is empty in all blocks; at once in the first round
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[ring.stage]),
                                      ring.parity ^ 1);

            // load: this block's rows of A, and its part of B for all; others' parts count, too
            const std::uint32_t full = ptx::cvta_to_shared(&shared.full[ring.stage]);
            const int k = static_cast<int>(k0);
            ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
            cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[ring.stage]), maps.a, a_along_k, row,
                                k, full);
            const std::uint32_t b = ptx::cvta_to_shared(&shared.Bs[ring.stage][my_part * BK<In>]);
            if constexpr (CLUSTER == 1) {
              cuda::load_tile<BN>(b, maps.b, b_along_k, col, k, full);
            } else {
              cuda::load_tile_for<PART>((1 << CLUSTER) - 1, b, maps.b, b_along_k, col + my_part, k,
                                        full);
            }
            ring.advance();
          }
        });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Split& split,
                                                 Shared<In, Out>& shared) {
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    cuda::Ring<STAGES> ring;
    for_pieces(
        g, split.splits, [&](const cuda::Piece& piece, const cuda::Tile& tile) RUNG_INLINE_LAMBDA {
          Scalar<Out> acc[BN / 8][4] = {};
          cuda::with_layouts(g, [&]<bool A_ALONG_K, bool B_ALONG_K>() RUNG_INLINE_LAMBDA {
            multiply<A_ALONG_K, B_ALONG_K>(piece.steps(), group * 64, shared, ring, acc);
          });

          // store
          if (piece.parts > 1) {
            const unsigned mine = ptx::cluster_ctarank() * CONSUMERS + static_cast<unsigned>(group);
            const cuda::SharedSums<BN / 8, Scalar<Out>> sums(split.workspace, piece,
                                                             CLUSTER * CONSUMERS, mine);
            sums.store(g, tile.row + group * 64, tile.col, acc, 1 + group);
          } else {
            shared.Cs[group].store(g, maps.c, tile.row + group * 64, tile.col, acc, 1 + group);
          }
        });
    shared.Cs[group].wait();
  }

  /// acc += (64 rows of the tile of A, from group_row on) * (the tile of B).
  template <bool A_ALONG_K, bool B_ALONG_K, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row,
                                                  Shared<In, Out>& shared, cuda::Ring<STAGES>& ring,
                                                  Scalar<Out> (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledLines<BM, A_ALONG_K, sizeof(In)>;
    using BTile = cuda::SwizzledLines<BN, B_ALONG_K, sizeof(In)>;
    const auto release = [&](int stage) {
      const std::uint32_t block = threadIdx.x % 32;
      const std::uint32_t empty = ptx::cvta_to_shared(&shared.empty[stage]);
      if constexpr (CLUSTER == 1) {
        if (block == 0) ptx::mbarrier_arrive(empty);
      } else {
        if (block < CLUSTER) ptx::mbarrier_arrive_cluster(empty, block);
      }
    };

    int before = 0;
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK<In>) {
      // sync: wait for the tiles
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[ring.stage]), ring.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[ring.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[ring.stage]);
      if constexpr (cuda::is_promoted<In>) {
        cuda::add_promoted<ATile, BTile, In>(a, b, group_row, acc);
        release(ring.stage);
        ring.advance();
        continue;
      }
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK<In>; k += 32 / sizeof(In)) {
        ptx::wgmma_m64<In, !A_ALONG_K, !B_ALONG_K>(acc, ATile::descriptor(a, group_row, k),
                                                   BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > 0) release(before);
      before = ring.stage;
      ring.advance();
    }
    if constexpr (cuda::is_promoted<In>) return;
    ptx::wgmma_wait_group<0>(acc);
    if (steps > 0) release(before);
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In, Out>), CLUSTER};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmPlan& chosen) {
    const std::int64_t pieces = cuda::tiles_of_c<CLUSTER * BM, BN>(g) * chosen.splits;
    const std::int64_t sharing = pieces < MOST_SHARING ? pieces : MOST_SHARING;
    return {.grid = {CLUSTER * pieces},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Out>),
            .workspace_bytes =
                chosen.splits == 1 ? 0 : cuda::sums_bytes<Scalar<Out>>(CLUSTER * sharing * BM * BN),
            .cluster = CLUSTER,
            .persistent = true,
            .starts_early = true,
            .a = cuda::boxes_of_a(g, BM),
            .b = cuda::boxes_of_b(g, BN / CLUSTER),
            .c = cuda::leaves_in_boxes(g) ? cuda::boxes_of_c(g, 64) : cuda::Boxes{}};
  }
};

//                               BM   BN  STAGES CLUSTER
using Neighbours = DependentTile<128, 256, 4, 2>;
using Large = DependentTile<128, 256, 4, 1>;
using Wide = DependentTile<128, 192, 4, 1>;
using MediumPair = DependentTile<128, 128, 6, 2>;
using Medium = DependentTile<128, 128, 6, 1>;
using SmallPair = DependentTile<64, 128, 8, 2>;
using Small = DependentTile<64, 128, 8, 1>;
using Smaller = DependentTile<64, 64, 12, 1>;
using Tall = DependentTile<128, 64, 8, 1>;
using Flat = DependentTile<64, 256, 5, 1>;

}  // namespace

#define RUNG_TILES_PROMOTED(TILE, entry) \
  TILE(entry, 0, Medium)                 \
  TILE(entry, 1, Wide)                   \
  TILE(entry, 2, Tall) TILE(entry, 3, SmallPair) TILE(entry, 4, Small) TILE(entry, 5, Smaller)
#define RUNG_TILES_OTHERS(TILE, entry) RUNG_TILES_PROMOTED(TILE, entry) TILE(entry, 6, Large)
#define RUNG_TILES_HALVES(TILE, entry) \
  RUNG_TILES_OTHERS(TILE, entry)       \
  TILE(entry, 7, Neighbours) TILE(entry, 8, MediumPair) TILE(entry, 9, Flat)
RUNG_CUDA_GEMM_SPLIT_TYPED_TILES(31, dependent_launch)

}  // namespace rung
