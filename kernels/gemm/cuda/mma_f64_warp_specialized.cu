// gemm/cuda/mma_f64_warp_specialized: Hopper's larger f64 mma, 16 x 8 x 8 elements an instruction,
//   and a producer warpgroup that issues all copies, so that consumer warps never wait for each
//   other.
// from: mma_f64 | removes: the issue limit of the 8 x 8 x 4 mma, and the block-wide barrier in each
//   k-block | bottleneck: power
// needs: sm_90a | try: rung trace gemm/cuda/mma_f64_warp_specialized

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/f64_loader.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/f64_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

template <int BM, int BN, int WM, int WN, int STAGES, int BLOCKS, int REGISTERS>
struct WarpSpecialized {
  static constexpr int BK = 16;
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int CONSUMERS = Warps::THREADS / 32;  // warps
  static constexpr int THREADS = Warps::THREADS + 128;
  static constexpr int PRODUCER_REGISTERS = BLOCKS > 2 ? 24 : 40;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  static constexpr unsigned GROUP = 8;     // tile rows per swizzle group
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8k8
  static constexpr int FRAGS_N = WN / 8;
  using Rows = cuda::Fragment<2 * FRAGS_M, 8, 1>;  // of a thread, within a warp's tile
  using Cols = cuda::Fragment<2 * FRAGS_N, 4, 2>;
  using Sums = double[FRAGS_M][FRAGS_N][4];

  static_assert(Warps::THREADS / 32 * 8 * WN <= STAGES * BM * BK, "staging fits in As");

  struct Shared {
    alignas(128) double As[STAGES][BM * BK];
    alignas(128) double Bs[STAGES][BN * BK];
    std::uint64_t full[STAGES];   // mbarriers: the tiles have arrived
    std::uint64_t empty[STAGES];  // mbarriers: all reads of them are done
  };

  static __device__ __forceinline__ void kernel(const Gemm<double, double>& g,
                                                const cuda::SplitK& split_k) {
    auto& shared = cuda::dynamic_shared<Shared>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 128);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), CONSUMERS);
      }
      ptx::fence_mbarrier_init();
    }
    __syncthreads();

    // place
    const cuda::BlockWork work = cuda::block_work(split_k);
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, work.tile, GROUP);
    const cuda::KRange range = cuda::part_of_k<BK>(g.k, work.parts, work.part);

    if (threadIdx.x >= 32 * CONSUMERS) {
      ptx::setmaxnreg_dec<PRODUCER_REGISTERS>();
      cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
        produce<A_K_MAJOR, B_K_MAJOR>(g, tile, range, shared);
      });
    } else {
      ptx::setmaxnreg_inc<REGISTERS>();
      Sums acc = {};
      cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
        multiply<A_K_MAJOR, B_K_MAJOR>(range.end - range.begin, shared, acc);
      });
      store(g, split_k, work, tile, acc);
    }
  }

  /// The last warpgroup: copies tiles to each stage as soon as it is empty.
  template <bool A_K_MAJOR, bool B_K_MAJOR>
  static __device__ __forceinline__ void produce(const Gemm<double, double>& g,
                                                 const cuda::TileCoord& tile,
                                                 const cuda::KRange& range, Shared& shared) {
    const int thread = static_cast<int>(threadIdx.x) - 32 * CONSUMERS;
    cuda::F64TileLoader<BM, BK, A_K_MAJOR, 128> a_tile(cuda::operand_a(g), tile.row, range, thread);
    cuda::F64TileLoader<BN, BK, B_K_MAJOR, 128> b_tile(cuda::operand_b(g), tile.col, range, thread);
    cuda::PipelineState<STAGES> state;
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK) {
      // sync: an empty stage. In the first round all stages are empty: the phase before an
      // mbarrier's first one counts as completed.
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]), state.parity ^ 1);

      // load
      a_tile.copy(shared.As[state.stage]);
      b_tile.copy(shared.Bs[state.stage]);
      ptx::cp_async_mbarrier_arrive_noinc(ptx::cvta_to_shared(&shared.full[state.stage]));
      state.advance();
    }
  }

  /// Any other warp: acc += its rows of A times its columns of B, over `steps` steps. The fragments
  /// of the next instructions are loaded before the current ones are issued.
  template <bool A_K_MAJOR, bool B_K_MAJOR>
  static __device__ __forceinline__ void multiply(std::int64_t steps, Shared& shared, Sums& acc) {
    const cuda::F64Reader<BM, BK, A_K_MAJOR> a_reader(Warps::row());
    const cuda::F64Reader<BN, BK, B_K_MAJOR> b_reader(Warps::col());
    double a[2][4], b[2][FRAGS_N][2];
    const auto load_a = [&](double(&to)[4], int stage, int k, int i) {
      RUNG_UNROLL
      for (int s = 0; s < 4; ++s) {
        to[s] = a_reader(shared.As[stage], i * 16 + s % 2 * 8, k + s / 2 * 4);
      }
    };
    const auto load_b = [&](double(&to)[FRAGS_N][2], int stage, int k) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        RUNG_UNROLL
        for (int s = 0; s < 2; ++s) to[j][s] = b_reader(shared.Bs[stage], j * 8, k + s * 4);
      }
    };
    const auto wait = [&](const cuda::PipelineState<STAGES>& state) {
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);
    };
    if (steps <= 0) return;

    cuda::PipelineState<STAGES> state;
    wait(state);
    load_b(b[0], 0, 0);
    load_a(a[0], 0, 0, 0);
    for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
      cuda::PipelineState<STAGES> next = state;
      next.advance();
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 8) {
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          // load
          const int number = k / 8 * FRAGS_M + i;
          auto& next_a = a[(number + 1) % 2];
          if (i + 1 < FRAGS_M) {
            load_a(next_a, state.stage, k, i + 1);
          } else if (k + 8 < BK) {
            load_b(b[(k / 8 + 1) % 2], state.stage, k + 8);
            load_a(next_a, state.stage, k + 8, 0);
          } else if (k0 + BK < steps) {
            // sync: the next tiles have arrived
            wait(next);
            load_b(b[0], next.stage, 0);
            load_a(next_a, next.stage, 0, 0);
          }

          // multiply
          RUNG_UNROLL
          for (int j = 0; j < FRAGS_N; ++j) {
            ptx::mma_m16n8k8(acc[i][j], a[number % 2], b[k / 8 % 2][j]);
          }
        }
      }

      // sync: all reads of the stage are done
      ptx::bar_warp_sync();
      if (Warps::lane() == 0) ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.empty[state.stage]));
      state = next;
    }
  }

  static __device__ __forceinline__ void store(const Gemm<double, double>& g,
                                               const cuda::SplitK& split_k,
                                               const cuda::BlockWork& work,
                                               const cuda::TileCoord& tile, const Sums& acc) {
    double results[2 * FRAGS_M][2 * FRAGS_N];
    RUNG_UNROLL
    for (int i = 0; i < 2 * FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < 2 * FRAGS_N; ++j) results[i][j] = acc[i / 2][j / 2][i % 2 * 2 + j % 2];
    }
    const int lane = Warps::lane();
    cuda::store_or_split<Rows, Cols, 32 * CONSUMERS, 8, WN>(
        g, split_k.workspace, work, tile.row + Warps::row(), tile.col + Warps::col(), lane / 4,
        lane % 4, results, [&]() RUNG_INLINE_LAMBDA {
          // sync: all reads of the tiles are done; their memory has room for a row of each thread
          ptx::bar_sync(0, 32 * CONSUMERS);
          return cuda::dynamic_shared<Shared>().As[0] + Warps::warp() * 8 * WN;
        });
  }

  static __device__ __forceinline__ bool has_fast_copies(const Gemm<double, double>& g) {
    return cuda::operand_a(g).is_aligned() && cuda::operand_b(g).is_aligned();
  }

  template <class, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared), 1, WM, WN};
  }

  static cuda::Launch launch(const Gemm<double, double>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .workspace_bytes = cuda::split_bytes<double>(tiles, BM * BN, chosen)};
  }
};

//                       BM   BN  WM  WN STAGES BLOCKS REGISTERS
using Large = WarpSpecialized<128, 128, 64, 32, 4, 1, 232>;
using Medium = WarpSpecialized<64, 128, 64, 32, 4, 2, 216>;
using Small = WarpSpecialized<64, 64, 32, 32, 4, 3, 136>;
using Smaller = WarpSpecialized<32, 64, 32, 16, 4, 4, 104>;
using Smallest = WarpSpecialized<32, 32, 16, 16, 4, 4, 104>;

}  // namespace

RUNG_CUDA_GEMM_TILES(mma_f64_warp_specialized, (0, Large, f64), (1, Medium, f64), (2, Small, f64),
                     (3, Smaller, f64), (4, Smallest, f64))

}  // namespace rung
