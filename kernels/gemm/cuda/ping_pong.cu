// gemm/cuda/ping_pong: ping-pong consumers: each of two warpgroups computes every other tile of its
//   block, and stores its results while the other one multiplies.
// from: wgmma_tiles | removes: idle tensor cores while results are stored | bottleneck: power and,
//   with few tiles, idle SMs in the last wave, as there is no split-K
// needs: sm_90a | try: rung bench gemm/cuda/wgmma_tiles gemm/cuda/ping_pong --dtype bf16-bf16
//   --sizes 8192x4096x320

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/staged_c.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/overlapping_tile.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

template <int BN, int STAGES>
struct PingPong {
  static constexpr int BM = 128;
  static constexpr int BK = 64;
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  static constexpr int CONSUMERS = 2;   // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int J = BM / 64 * BN / 8;  // groups of four sums of a thread
  using Scheduler = cuda::TileScheduler<BM, BN, BK>;
  using State = cuda::PipelineState<STAGES>;

  template <class In, class Out>
  struct Shared : cuda::StageBarriers<STAGES, 1> {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::TmaStoreEpilogue<BN, Out> Cs[CONSUMERS];
    std::uint64_t
        turn[CONSUMERS];  // mbarriers: the other consumer has waited for all stages of its tile
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In, Out>>();
    if (threadIdx.x == 0) {
      for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::cvta_to_shared(&turn), 1);
      shared.init(4);  // the warps of one consumer read a stage
    }
    // sync: the mbarriers are initialised
    __syncthreads();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(g, maps, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(g, maps, shared);
    }
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In, class Out>
  static __device__ __forceinline__ void produce(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 Shared<In, Out>& shared) {
    const cuda::CStages<Out> c_stages(g);
    const cuda::OverlappingTiles<BM, BN> tiles(g);
    State state;
    Scheduler(g, 1).for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const cuda::OverlappingTile whole = tiles.at(tile);
          const int row = static_cast<int>(whole.row), col = static_cast<int>(whole.col);
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            for (int k = static_cast<int>(work.k_begin); k < work.k_end; k += BK) {
              // load: the tiles of A and B
              const std::uint32_t full =
                  shared.expect(state, sizeof shared.As[0] + sizeof shared.Bs[0]);
              cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, A_K_MAJOR,
                                  row, k, full);
              cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), maps.b, B_K_MAJOR,
                                  col, k, full);
              state.advance();
            }
          });

          // load: C, if results depend on it, into the stage of A
          if (!c_stages.is_read) return;
          for (int c = 0; c < BN; c += cuda::staged_columns<Out>) {
            const std::uint32_t full = shared.expect(state, sizeof shared.As[0]);
            cuda::load_staged_c<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.c, row,
                                    col + c, full);
            state.advance();
          }
        });
  }

  /// One warpgroup: computes every other tile.
  template <class In, class Out>
  static __device__ __forceinline__ void consume(const Gemm<In, Out>& g,
                                                 const cuda::TensorMaps& maps,
                                                 Shared<In, Out>& shared) {
    const int consumer = cuda::warpgroup() - 1;
    const cuda::CStages<Out> c_stages(g);
    const int stages_of_c = c_stages.is_read ? BN / cuda::staged_columns<Out> : 0;
    const cuda::OverlappingTiles<BM, BN> tiles(g);
    State state;
    bool is_mine = consumer == 0;         // the next tile
    std::uint32_t turn_parity = is_mine;  // the first turn needs no signal
    Scheduler(g, 1).for_each(
        g, GROUP, [&](const cuda::WorkTile& work, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
          const bool is_others = !is_mine;
          is_mine = is_others;
          if (is_others) return cuda::skip_stages(state, work.steps() / BK + stages_of_c);
          Scalar<Out> acc[J][4] = {};
          // sync: the other consumer has waited for all earlier stages, so that no wait is two
          // phases ahead
          ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.turn[consumer]), turn_parity);
          turn_parity ^= 1;
          const auto pass_turn = [&](bool passes) RUNG_INLINE_LAMBDA {
            if (passes && threadIdx.x % 128 == 0) {
              ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.turn[1 - consumer]));
            }
          };
          cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
            using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
            using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
            cuda::multiply_stages<ATile, BTile, BN, In>(
                work.steps(), 0, shared, state,
                [&](int stage) RUNG_INLINE_LAMBDA { shared.release(stage); },
                [&]() RUNG_INLINE_LAMBDA { pass_turn(!c_stages.is_read); }, acc);
          });
          if (c_stages.is_read) [[unlikely]] {
            add_c(g, shared, state, acc);
            pass_turn(true);
          }

          // store: 64 rows at a time
          const cuda::OverlappingTile whole = tiles.at(tile);
          RUNG_UNROLL
          for (int row = 0; row < BM; row += 64) {
            shared.Cs[consumer].store_rest(g, maps.c, whole.row + row, whole.col, rows_of(acc, row),
                                           1 + consumer, c_stages.has_boxes, c_stages.scale,
                                           whole.skipped_rows - row, whole.skipped_cols);
          }
        });
    shared.Cs[consumer].wait();
  }

  /// Accumulators of one 64-row slice.
  template <class Sum>
  static __device__ __forceinline__ auto rows_of(Sum (&acc)[J][4], int row) -> Sum (&)[BN / 8][4] {
    return reinterpret_cast<Sum(&)[BN / 8][4]>(acc[row / 64 * BN / 8]);
  }

  /// Turns the sums into results that include beta * C.
  template <class In, class Out>
  static __device__ __forceinline__ void add_c(const Gemm<In, Out>& g, Shared<In, Out>& shared,
                                               State& state, Scalar<Out> (&acc)[J][4]) {
    RUNG_UNROLL
    for (int c = 0; c < BN; c += cuda::staged_columns<Out>) {
      // sync: the boxes have arrived
      shared.wait_until_full(state);
      RUNG_UNROLL
      for (int row = 0; row < BM; row += 64) {
        const In* const box = shared.As[state.stage] + row * BK;
        cuda::add_staged_c(g, reinterpret_cast<const Out*>(box), c / 8, rows_of(acc, row));
      }
      shared.release(state.stage);
      state.advance();
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared<In, Out>)};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Out>),
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN),
            .c = cuda::TmaStoreEpilogue<BN, Out>::map(g)};
  }
};

//                        BN  STAGES
using Medium = PingPong<128, 6>;
using Wide = PingPong<192, 4>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16
RUNG_CUDA_GEMM_TILES(ping_pong, (0, Medium, bf16, f16, bf16_bf16, f16_f16),
                     (1, Wide, bf16, f16, bf16_bf16, f16_f16))

}  // namespace rung
