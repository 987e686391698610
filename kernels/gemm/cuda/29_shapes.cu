// gemm/cuda/29_shapes: autotuned tile and cluster sizes, chosen per shape and device.
// from: 28_stored_boxes | removes: idle SMs where large tiles are few, and waiting within a cluster
//   where L2 is fast enough | bottleneck: with few tiles, SMs are idle
// needs: sm_90a | try: rung trace gemm/cuda/29

#include "device/cuda/boxes.cuh"
#include "device/cuda/layouts.cuh"
#include "device/cuda/map_tiles.cuh"
#include "device/cuda/ptx_barrier.cuh"
#include "device/cuda/ptx_wgmma.cuh"
#include "device/cuda/result_boxes.cuh"
#include "device/cuda/ring.cuh"
#include "device/cuda/shared.cuh"
#include "device/cuda/swizzled_lines.cuh"

namespace rung {
namespace {

template <int BM, int BN, int STAGES, int CLUSTER>
struct ShapedTile {
  static constexpr int BK = 64;
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int PRODUCER_REGISTERS = 40;
  static constexpr int CONSUMER_REGISTERS = 232;
  static constexpr int THREADS = (1 + CONSUMERS) * 128;

  template <class In>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::ResultBoxes<BN> Cs[CONSUMERS];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads in the cluster are done
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CLUSTER * CONSUMERS * 4);
      }
      ptx::fence_mbarrier_init();
    }
    ptx::barrier_cluster_arrive_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<PRODUCER_REGISTERS>();
      if (threadIdx.x == 0) produce(g, maps, shared);
    } else {
      ptx::setmaxnreg_inc<CONSUMER_REGISTERS>();
      consume(g, maps, shared);
    }

    // sync: no block exits while another may still signal its mbarriers
    ptx::barrier_cluster_arrive_wait();
  }

  /// Calls f(tile) for each tile of this block; the tiles of a cluster are stacked in m.
  template <class In, class Out, class F>
  static __device__ __forceinline__ void for_tiles(const Gemm<In, Out>& g, const F& f) {
    const auto tiles = static_cast<unsigned>(cuda::tiles_of_c<CLUSTER * BM, BN>(g));
    for (unsigned number = blockIdx.x / CLUSTER; number < tiles; number += gridDim.x / CLUSTER) {
      const cuda::Tile both = cuda::tile_in_groups<CLUSTER * BM, BN>(g, number, GROUP / CLUSTER);
      f(cuda::Tile{both.row + ptx::cluster_ctarank() * BM, both.col});
    }
  }

  /// One thread: issues the loads of each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps, Shared<In>& shared) {
    const bool a_along_k = cuda::operand_a(g).is_along_k();
    const bool b_along_k = cuda::operand_b(g).is_along_k();
    constexpr int PART = BN / CLUSTER;
    constexpr std::uint16_t ALL = (1 << CLUSTER) - 1;
    const int my_part = static_cast<int>(ptx::cluster_ctarank()) * PART;
    cuda::Ring<STAGES> ring;
    for_tiles(g, [&](const cuda::Tile& tile) RUNG_INLINE_LAMBDA {
      const int row = static_cast<int>(tile.row);
      const int col = static_cast<int>(tile.col);
      for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
        // sync: wait for a stage that is empty in all blocks. In the first round this returns at
        // once: waiting for the parity before the first phase succeeds.
        ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[ring.stage]), ring.parity ^ 1);

        // load: this block's rows of A, and its part of B for all; the other parts count here too
        const std::uint32_t full = ptx::cvta_to_shared(&shared.full[ring.stage]);
        const int k = static_cast<int>(k0);
        ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
        cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[ring.stage]), maps.a, a_along_k, row, k,
                            full);
        const std::uint32_t b = ptx::cvta_to_shared(&shared.Bs[ring.stage][my_part * BK]);
        if constexpr (CLUSTER == 1) {
          cuda::load_tile<BN>(b, maps.b, b_along_k, col, k, full);
        } else {
          cuda::load_tile_for<PART>(ALL, b, maps.b, b_along_k, col + my_part, k, full);
        }
        ring.advance();
      }
    });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps, Shared<In>& shared) {
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    const int group_row = group * 64;
    cuda::Ring<STAGES> ring;
    for_tiles(g, [&](const cuda::Tile& tile) RUNG_INLINE_LAMBDA {
      Out acc[BN / 8][4] = {};
      cuda::with_layouts(g, [&]<bool A_ALONG_K, bool B_ALONG_K>() RUNG_INLINE_LAMBDA {
        multiply<A_ALONG_K, B_ALONG_K>(g.k, group_row, shared, ring, acc);
      });

      // store
      shared.Cs[group].store(g, maps.c, tile.row + group_row, tile.col, acc, 1 + group);
    });
    shared.Cs[group].wait();
  }

  /// acc += (64 rows of the tile of A, from group_row on) * (the tile of B).
  template <bool A_ALONG_K, bool B_ALONG_K, class In, class Out>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int group_row,
                                                  Shared<In>& shared, cuda::Ring<STAGES>& ring,
                                                  Out (&acc)[BN / 8][4]) {
    using ATile = cuda::SwizzledLines<BM, A_ALONG_K>;
    using BTile = cuda::SwizzledLines<BN, B_ALONG_K>;
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
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      // sync: wait for the tiles
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[ring.stage]), ring.parity);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[ring.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[ring.stage]);
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        ptx::wgmma_m64k16<In, !A_ALONG_K, !B_ALONG_K>(acc, ATile::descriptor(a, group_row, k),
                                                      BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > 0) release(before);
      before = ring.stage;
      ring.advance();
    }
    ptx::wgmma_wait_group<0>(acc);
    if (steps > 0) release(before);
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared<In>), CLUSTER};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmPlan&) {
    return {.grid = {CLUSTER * cuda::tiles_of_c<CLUSTER * BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In>),
            .cluster = CLUSTER,
            .persistent = true,
            .a = cuda::boxes_of_a(g, BM),
            .b = cuda::boxes_of_b(g, BN / CLUSTER),
            .c = cuda::leaves_in_boxes(g) ? cuda::boxes_of_c(g, 64) : cuda::Boxes{}};
  }
};

//                            BM   BN  STAGES CLUSTER
using Neighbours = ShapedTile<128, 256, 4, 2>;
using Large = ShapedTile<128, 256, 4, 1>;
using Medium = ShapedTile<128, 128, 6, 1>;
using Small = ShapedTile<64, 128, 8, 1>;
using Smaller = ShapedTile<64, 64, 12, 1>;

}  // namespace

#define RUNG_TILES_HALVES(TILE, entry) \
  TILE(entry, 0, Neighbours)           \
  TILE(entry, 1, Large) TILE(entry, 2, Medium) TILE(entry, 3, Small) TILE(entry, 4, Smaller)
RUNG_CUDA_GEMM_MAP_TILES(29, shapes)

}  // namespace rung
