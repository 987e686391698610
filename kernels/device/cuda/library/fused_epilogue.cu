// Products of 16-bit and 8-bit floats with a fused epilogue: wgmma_tiles with the operations of
// rung::Epilogue between the sums and their TMA store. Only tiles for common parts use clusters.
// Registered like a rung, but not on the ladder.
// bottleneck: the epilogue if k is short; 128 x 256 with all parts spills
// needs: sm_90a

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/common_parts.cuh"
#include "device/cuda/epilogue/fused.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/library/fused_epilogue.hpp"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

/// TILES: 1, consumers share a tile of 64 rows each; 2, ping-pong: each of two consumers has its
/// own tile and stores its results while the other one multiplies. COMMON: the epilogue has only
/// common parts, as has_common_parts() of the library defines them. CLUSTER: blocks that share B's
/// columns.
template <int BM, int BN, int STAGES, int TILES, int BOXES, int WM, bool COMMON, int CLUSTER = 1>
struct FusedTile {
  static constexpr unsigned GROUP = 8 * 128 / BM;    // tile rows per group of the rasterization
  static constexpr int SHARERS = BM / WM;            // consumers per tile, WM rows each
  static constexpr int CONSUMERS = TILES * SHARERS;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int J = WM / 64 * BN / 8;  // quads of sums per thread
  static constexpr bool SPLITS = TILES == 1;  // splits tiles of the last wave along k
  template <class In>
  static constexpr int BK = 128 / sizeof(In);  // k-blocks of 128 bytes
  template <class In>
  using Scheduler = cuda::TileScheduler<BM, BN, 128 / sizeof(In), CLUSTER>;

  template <class In>
  struct Shared {
    static_assert(cuda::requires_k_major<In> || BN / CLUSTER % 64 == 0, "boxes have 64 columns");
    alignas(1024) In As[STAGES][BM * BK<In>];
    alignas(1024) In Bs[STAGES][BN * BK<In>];
    alignas(1024) cuda::FusedBoxes<BOXES> boxes[CONSUMERS];
    float bias[CONSUMERS][BN];
    cuda::StageBarriers<STAGES, CLUSTER> barriers;
    std::uint64_t turn[TILES];  // the other consumer has issued the products of its tile
    std::uint64_t loaded[CONSUMERS][BOXES];  // COMMON: the residual is in the box
  };

#ifndef RUNG_HOST
  template <class In>
  static __device__ __forceinline__ void kernel(const Gemm<In, float>& g,
                                                const cuda::TensorMaps& maps,
                                                const cuda::EncodedTensorMap& other,
                                                const EpilogueArgs& epilogue,
                                                const cuda::SplitK& split_k) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) {
      if (TILES > 1) {
        for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::cvta_to_shared(&turn), 1);
      }
      if (COMMON) {
        for (auto& boxes : shared.loaded) {
          for (auto& box : boxes) ptx::mbarrier_init(ptx::cvta_to_shared(&box), 1);
        }
      }
      shared.barriers.init(SHARERS * 4);
    }
    // sync: the barriers are initialized
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, split_k, shared);
    } else {
      ptx::setmaxnreg_inc<(CONSUMERS > 2 ? 152 : 232)>();
      consume(g, maps, other, epilogue, split_k, shared);
    }
    // sync: no block exits while another may still signal its mbarriers
    if (CLUSTER > 1) ptx::barrier_cluster_arrive_wait();
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In>
  static __device__ __forceinline__ void produce(const Gemm<In, float>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::SplitK& split_k, Shared<In>& shared) {
    const bool a_k_major = cuda::operand_a(g).is_k_major();
    const bool b_k_major = cuda::operand_b(g).is_k_major();
    const Scheduler<In> scheduler(g, SPLITS ? split_k.splits : 1);
    cuda::PipelineState<STAGES> state;
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          for (std::int64_t k0 = work.k_begin; k0 < work.k_end; k0 += BK<In>) {
            // load: this block's rows of A, and its part of B for all blocks; their parts count
            // here, too
            const std::uint32_t full =
                shared.barriers.expect(state, sizeof shared.As[0] + sizeof shared.Bs[0]);
            const int k = static_cast<int>(k0), col = static_cast<int>(tile.col);
            cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major,
                                static_cast<int>(tile.row), k, full);
            if constexpr (CLUSTER == 1) {
              cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, b_k_major,
                                  col, k, full);
            } else {
              constexpr int PART = BN / CLUSTER;
              const int part = static_cast<int>(ptx::cluster_ctarank()) * PART;
              cuda::load_tile_multicast<PART>(
                  (1 << CLUSTER) - 1, ptx::cvta_to_shared(&shared.Bs[state.stage][part * BK<In>]),
                  maps.b, b_k_major, col + part, k, full);
            }
            state.advance();
          }
        });
  }

  /// One warpgroup: WM rows of each tile, or of every other tile.
  template <class In>
  static __device__ __forceinline__ void consume(const Gemm<In, float>& g,
                                                 const cuda::TensorMaps& maps,
                                                 const cuda::EncodedTensorMap& other,
                                                 const EpilogueArgs& args,
                                                 const cuda::SplitK& split_k, Shared<In>& shared) {
    const int consumer = cuda::warpgroup() - 1;
    const int row = consumer % SHARERS * WM;
    auto epilogue = [&]() RUNG_INLINE_LAMBDA {
      auto& boxes = shared.boxes[consumer];
      auto& bias = shared.bias[consumer];
      if constexpr (COMMON) {
        return cuda::CommonEpilogue<WM, BN, BOXES, In>(
            args, maps.c, other, {boxes, shared.loaded[consumer], bias}, 1 + consumer);
      } else {
        return cuda::FusedEpilogue<WM, BN, BOXES>(args, maps.c, other, boxes, bias, 1 + consumer);
      }
    }();
    const Scheduler<In> scheduler(g, SPLITS ? split_k.splits : 1);
    cuda::PipelineState<STAGES> state;
    int others = consumer / SHARERS;         // tiles to skip before this consumer's next one
    std::uint32_t turn_parity = others ^ 1;  // the first turn needs no signal
    scheduler.for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          if (others-- > 0) return cuda::skip_stages(state, work.steps() / BK<In>);
          others = TILES - 1;
          epilogue.prefetch(tile.row + row, tile.col, SPLITS && work.splits > 1);
          // Zero before the turn: otherwise tensor cores would wait.
          float acc[J][4] = {};
          ptx::pin(acc);
          if constexpr (TILES > 1) {
            // sync: the other consumer has passed all previous stages, so that no wait for a stage
            // is two phases ahead
            ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.turn[consumer]), turn_parity);
            turn_parity ^= 1;
          }
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            multiply<A_K_MAJOR, B_K_MAJOR>(work.steps(), row, shared, state, acc);
          });
          if constexpr (SPLITS) {
            if (work.splits > 1) {
              const unsigned mine =
                  ptx::cluster_ctarank() * SHARERS + static_cast<unsigned>(consumer);
              const cuda::SplitKReduction<J> sums(split_k.workspace, work, CLUSTER * SHARERS, mine);
              return epilogue.run_part(sums, tile.row + row, tile.col, acc);
            }
          }
          epilogue.run(tile.row + row, tile.col, acc);
        });
    epilogue.finish();
  }

  /// acc += WM rows of A, from `row` of the tile, times B's columns.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In>
  static __device__ __forceinline__ void multiply(std::int64_t steps, int row, Shared<In>& shared,
                                                  cuda::PipelineState<STAGES>& state,
                                                  float (&acc)[J][4]) {
    using ATile = cuda::SwizzledTile<BM, A_K_MAJOR, sizeof(In)>;
    using BTile = cuda::SwizzledTile<BN, B_K_MAJOR, sizeof(In)>;
    const auto release = [&](int stage) RUNG_INLINE_LAMBDA { shared.barriers.release(stage); };
    const auto issued = [&]() RUNG_INLINE_LAMBDA {
      if (TILES > 1 && threadIdx.x % 128 == 0) {
        ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.turn[threadIdx.x < 256 ? 1 : 0]));
      }
    };
    const struct {
      decltype(shared.As)& As;
      decltype(shared.Bs)& Bs;
      std::uint64_t (&full)[STAGES];
    } stages = {shared.As, shared.Bs, shared.barriers.full};
    cuda::multiply_stages<ATile, BTile, BN, In>(steps, row, stages, state, release, issued, acc);
  }
#endif

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In>), CLUSTER};
  }

  /// Omits the tensor map of C, whose type depends on the epilogue.
  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t blocks = CLUSTER * cuda::tiles_of_c<CLUSTER * BM, BN>(g) * chosen.splits;
    return {
        .grid = {blocks},
        .block = {THREADS},
        .shared_bytes = sizeof(Shared<In>),
        .workspace_bytes = Scheduler<In>::template workspace_bytes<float>(blocks, chosen.splits),
        .workspace_bytes_per_block =
            Scheduler<In>::template workspace_bytes_per_block<float>(chosen.splits),
        .cluster = CLUSTER,
        .persistent = true,
        .starts_early = true,
        .a = cuda::tensor_map_of_a(g, BM),
        .b = cuda::tensor_map_of_b(g, BN / CLUSTER)};
  }
};

// One box per 64 x 64 results would cost the ping-pong 128 x 128 tile a stage, which is worth more.
using Medium = FusedTile<128, 128, 6, 1, 2, 64, false>;
using Small = FusedTile<64, 128, 8, 1, 2, 64, false>;
using Smaller = FusedTile<64, 64, 12, 1, 2, 64, false>;
using InTurn = FusedTile<128, 128, 6, 2, 2, 128, false>;
using FlatInTurn = FusedTile<64, 192, 5, 2, 3, 64, false>;
using Large = FusedTile<128, 256, 4, 1, 2, 64, false>;
using CommonInTurn = FusedTile<128, 128, 5, 2, 3, 128, true>;
using CommonLarge = FusedTile<128, 256, 4, 1, 2, 64, true>;
using CommonTall = FusedTile<192, 128, 4, 1, 2, 64, true>;
using CommonSmaller = FusedTile<64, 64, 12, 1, 2, 64, true>;
using CommonMedium = FusedTile<128, 128, 6, 1, 2, 64, true>;
using CommonSmall = FusedTile<64, 128, 8, 1, 2, 64, true>;
using CommonPair = FusedTile<128, 256, 4, 1, 2, 64, true, 2>;

}  // namespace

// compiled by type: bf16 f16 e4m3
#ifdef RUNG_HOST

extern const cuda::GemmRung gemm_cuda_library_fused_epilogue = [] {
  using enum Dtype;
  cuda::GemmRung rung = cuda::tiled_gemm_rung(
      "gemm_cuda_library_fused_epilogue", cuda::TileRow<0, Medium, bf16, f16, e4m3>{},
      cuda::TileRow<1, Small, bf16, f16, e4m3>{}, cuda::TileRow<2, Smaller, bf16, f16, e4m3>{},
      cuda::TileRow<3, InTurn, bf16, f16>{}, cuda::TileRow<4, FlatInTurn, bf16, f16>{},
      cuda::TileRow<5, Large, bf16, f16>{}, cuda::TileRow<6, CommonInTurn, bf16, f16>{},
      cuda::TileRow<7, CommonLarge, bf16, f16>{}, cuda::TileRow<8, CommonTall, bf16, f16>{},
      cuda::TileRow<9, CommonSmaller, bf16, f16>{}, cuda::TileRow<10, CommonMedium, bf16, f16>{},
      cuda::TileRow<11, CommonSmall, bf16, f16>{}, cuda::TileRow<12, CommonPair, bf16, f16>{});
  rung.maps = true;
  return rung;
}();

#else

#define RUNG_FUSED_ENTRY(entry, Class, In)                                          \
  extern "C" __global__ void __launch_bounds__(Class::THREADS, 1)                   \
      entry(cuda::FusedArgs<In> args) {                                             \
    const cuda::TensorMaps* maps = nullptr;                                         \
    RUNG_TENSOR_MAPS_OF(entry, maps);                                               \
    const auto& other = *reinterpret_cast<const cuda::EncodedTensorMap*>(maps + 1); \
    Class::kernel(args.problem, *maps, other, args.epilogue, args.split_k);         \
  }
#define RUNG_FUSED_ENTRIES(index, Class, suffix, dtype)                                       \
  RUNG_ENTRIES_OF(dtype, RUNG_FUSED_ENTRY(gemm_cuda_library_fused_epilogue_##dtype##_##index, \
                                          Class, ElementsOf<Dtype::dtype>::In))
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 0, Medium, , bf16, f16, e4m3)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 1, Small, , bf16, f16, e4m3)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 2, Smaller, , bf16, f16, e4m3)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 3, InTurn, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 4, FlatInTurn, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 5, Large, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 6, CommonInTurn, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 7, CommonLarge, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 8, CommonTall, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 9, CommonSmaller, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 10, CommonMedium, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 11, CommonSmall, , bf16, f16)
RUNG_FOR_EACH(RUNG_FUSED_ENTRIES, 12, CommonPair, , bf16, f16)

#endif

}  // namespace rung
