// gemm/cuda/grouped: ragged groups of rows, or of k, each with a matrix of its own: blocks count
//   the tiles of all groups from offsets in device memory, without the host and without padding.
// from: wgmma_tiles | removes: a launch for each group, and the host's wait for the group sizes |
//   bottleneck: the last tile of a group, which its rows fill only in part
// needs: sm_90a | try: rung bench gemm/cuda/grouped --groups 128 --tokens 65536 --sizes 1536x2048
//   --dtype bf16

#include <type_traits>

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/load/zero_steps.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/group_layouts.cuh"
#include "device/cuda/tile/group_scheduler.cuh"
#include "device/cuda/tile/invariant_sums.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

/// A_BOX: rows of a TMA box of A; boxes without rows of the group are not loaded. IN_PARTS: sums
/// are added in the order of mode batch_invariant for a long k.
template <int BM, int BN, int STAGES, int A_BOX, bool IN_PARTS = false>
struct GroupedTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;  // tile rows per swizzle group
  static constexpr int CONSUMERS = BM / 64;        // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  using RaggedGroups = void;
  template <class In>
  static constexpr int BK = 128 / sizeof(In);  // rows of 128 bytes

  template <class In, class Out>
  struct Shared {
    alignas(1024) In As[STAGES][BM * BK<In>];
    alignas(1024) In Bs[STAGES][BN * BK<In>];
    cuda::TmaStoreEpilogue<BN, Out> Cs[CONSUMERS];
    cuda::StageBarriers<STAGES, 1> barriers;
    cuda::GroupScheduler<BM, BN> scheduler;
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::Products& products) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    // Rows that no box loads are multiplied as well, but not stored.
    if constexpr (A_BOX < 64) cuda::zero_tiles<THREADS>(shared.As[0], STAGES * BM * BK<In>);
    if (threadIdx.x == 0) shared.barriers.init(CONSUMERS * 4);

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();
    shared.scheduler.prepare(g, products, THREADS);

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, products, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, products, shared);
    }
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::Products& products,
                                                 Shared<In, Out>& shared) {
    const bool a_k_major = cuda::a_is_k_major(g, products.cuts_k);
    const bool b_k_major = cuda::b_is_k_major(g);
    cuda::PipelineState<STAGES> state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          const int rows = a_k_major && tile.rows < BM ? tile.rows : BM;
          const int boxes = (rows + A_BOX - 1) / A_BOX;
          const int bytes = boxes * A_BOX * 128 + static_cast<int>(sizeof shared.Bs[0]);
          for (int k0 = 0; k0 < tile.steps; k0 += BK<In>) {
            // load
            const std::uint32_t full = shared.barriers.expect(state, bytes);
            const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
            const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
            if (a_k_major) {
              for (int box = 0; box < boxes; ++box) {
                cuda::load_tile<A_BOX>(a + box * A_BOX * 128, maps.a, true,
                                       tile.a_row + box * A_BOX, tile.a_k + k0, full);
              }
            } else {
              cuda::load_tile<BM>(a, maps.a, false, tile.a_row, tile.a_k + k0, full);
            }
            cuda::load_tile<BN>(b, maps.b, b_k_major, tile.b_col, tile.b_k + k0, full);
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
    // Broadcast from lane 0, so that the compiler knows that the warp does not diverge.
    const int group = static_cast<int>(ptx::shfl_idx(threadIdx.x / 128, 0)) - 1;
    const int group_row = group * 64;
    cuda::PipelineState<STAGES> state;
    shared.scheduler.for_each(
        g, products, GROUP, [&](const cuda::GroupTile& tile) RUNG_INLINE_LAMBDA {
          Scalar<Out> acc[BN / 8][4] = {};
          const cuda::CutSteps cut = {tile.lead, products.offsets != nullptr};
          cuda::with_group_layouts(
              g, products.cuts_k, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
                if (group_row < tile.rows) {
                  const auto add = [&](int begin, int end, auto& sums) RUNG_INLINE_LAMBDA {
                    multiply<A_K_MAJOR, B_K_MAJOR>(begin, end, tile.steps, cut, group_row, shared,
                                                   state, sums);
                  };
                  if constexpr (IN_PARTS) {
                    cuda::sum_parts(0, tile.steps, tile.steps, acc, add);
                  } else {
                    add(0, tile.steps, acc);
                  }
                } else {
                  skip<A_K_MAJOR, B_K_MAJOR>(tile.steps, cut, shared, state);
                }
              });

          // store
          shared.Cs[group].store_before(g, maps.c, tile.c_row + group_row, tile.c_row + tile.rows,
                                        tile.c_col, acc, 1 + group);
        });
    shared.Cs[group].wait();
  }

  template <bool K_MAJOR, int EXTENT, class In>
  using Tile = cuda::SwizzledTile<EXTENT, K_MAJOR, sizeof(In)>;

  /// Waits for the k-block that begins at step k0.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void wait(int k0, int steps, const cuda::CutSteps& cut,
                                              Shared<In, Out>& shared,
                                              const cuda::PipelineState<STAGES>& state) {
    // sync: the tiles have arrived
    shared.barriers.wait_until_full(state);
    cuda::zero_rest<Tile<A_K_MAJOR, BM, In>, BM, Tile<B_K_MAJOR, BN, In>, BN, CONSUMERS * 128>(
        shared.As[state.stage], shared.Bs[state.stage], k0, steps, cut, 1 + CONSUMERS);
  }

  /// Skips a tile that has no rows for this warpgroup.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void skip(int steps, const cuda::CutSteps& cut,
                                              Shared<In, Out>& shared,
                                              cuda::PipelineState<STAGES>& state) {
    for (int k0 = 0; k0 < steps; k0 += BK<In>) {
      wait<A_K_MAJOR, B_K_MAJOR>(k0, steps, cut, shared, state);
      shared.barriers.release(state.stage);
      state.advance();
    }
  }

  /// acc += rows [group_row, group_row + 64) of the tile of A times the tile of B, in steps [begin,
  /// end).
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(int begin, int end, int steps,
                                                  const cuda::CutSteps& cut, int group_row,
                                                  Shared<In, Out>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  Scalar<Out> (&acc)[BN / 8][4]) {
    using ATile = Tile<A_K_MAJOR, BM, In>;
    using BTile = Tile<B_K_MAJOR, BN, In>;
    int before = 0;
    for (int k0 = begin; k0 < end; k0 += BK<In>) {
      wait<A_K_MAJOR, B_K_MAJOR>(k0, steps, cut, shared, state);

      // multiply
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      if constexpr (cuda::is_promoted<In>) {
        cuda::add_promoted<ATile, BTile, In>(a, b, group_row, acc);
        shared.barriers.release(state.stage);
        state.advance();
        continue;
      }
      ptx::wgmma_fence(acc);
      RUNG_UNROLL
      for (int k = 0; k < BK<In>; k += 32 / sizeof(In)) {
        ptx::wgmma_m64<In, !A_K_MAJOR, !B_K_MAJOR>(acc, ATile::descriptor(a, group_row, k),
                                                   BTile::descriptor(b, 0, k));
      }
      ptx::wgmma_commit_group();

      // sync: with one wgmma group in flight, all reads of the previous stage are done
      ptx::wgmma_wait_group<1>(acc);
      if (k0 > begin) shared.barriers.release(before);
      before = state.stage;
      state.advance();
    }
    if constexpr (cuda::is_promoted<In>) return;
    ptx::wgmma_wait_group<0>(acc);
    if (begin < end) shared.barriers.release(before);
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In, Out>)};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Out>),
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a_in_groups(g, A_BOX),
            .b = cuda::tensor_map_of_b(g, BN),
            .c = cuda::can_tma_store(g) ? cuda::tensor_map_of_c(g, 64) : cuda::TensorMapSpec{}};
  }

  /// Chooses by the rows of C, or their mean over ragged groups. On an H200, both tiles take
  /// equally long at about 24 rows. Types that are rarely grouped have only the larger tile.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int /*multiprocessors*/) {
    constexpr bool has_small_tile = sizeof(In) == 2 || std::is_same_v<In, float8_e4m3>;
    return {.tile = has_small_tile && g.m > 24 ? 1 : 0};
  }
};

//                          BM   BN  STAGES A_BOX
using Large = GroupedTile<128, 256, 4, 64>;
using Wide = GroupedTile<128, 192, 4, 64>;
using Small = GroupedTile<64, 128, 8, 16>;
using InParts = GroupedTile<128, 128, 6, 64, true>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16 e4m3 e5m2 tf32 i8
RUNG_CUDA_GEMM_TILES(grouped, (0, Small, bf16, f16, bf16_bf16, f16_f16, e4m3),
                     (1, Large, bf16, f16, bf16_bf16, f16_f16), (1, Wide, e4m3), (0, Wide, e5m2),
                     (0, Large, tf32, i8), (2, InParts, bf16, f16, bf16_bf16, f16_f16))

}  // namespace rung
