// gemm/cuda/51_any_operands: operands that TMA cannot read, element by element: a small product
//   takes one launch, where packing them first takes two or three.
// from: 31_dependent_launch | removes: the launches that pack operands, which take longer than a
//   small product | bottleneck: load instructions, eight and more where one vector would do
// needs: sm_80 | try: rung bench gemm/cuda/31 gemm/cuda/51 --dtype bf16 --sizes 100x99x101

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/element_loader.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

struct AnyOperands {
  static constexpr int BM = 64;
  static constexpr int BN = 64;
  static constexpr int BK = 32;
  static constexpr int WM = 32;
  static constexpr int WN = 16;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8, of 32 bytes along k
  static constexpr int FRAGS_N = WN / 8;
  static constexpr unsigned GROUP = 8;  // rows of tiles that go together
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = 3;
  static constexpr int PITCH = BN + 4;  // of results: rows in different banks
  template <class In>
  using ALoader = cuda::ElementLoader<In, BM, BK, THREADS>;
  template <class In>
  using BLoader = cuda::ElementLoader<In, BN, BK, THREADS>;

  template <class In, class Sum>
  union Shared {
    struct {
      alignas(16) In As[ALoader<In>::SIZE];
      alignas(16) In Bs[BLoader<In>::SIZE];
    } tiles;
    Sum results[BM * PITCH];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::SplitK& split_k) {
    using Sum = Scalar<Out>;
    auto& shared = cuda::dynamic_shared<Shared<In, Sum>>();

    // place
    const cuda::BlockWork work = cuda::block_work(split_k);
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, work.tile, GROUP);
    const cuda::KRange range = cuda::part_of_k<BK>(g.k, work.parts, work.part);

    // load: the first tiles, into registers
    ALoader<In> a_tile(cuda::operand_a(g), tile.row);
    BLoader<In> b_tile(cuda::operand_b(g), tile.col);
    a_tile.load(range.begin, range.end);
    b_tile.load(range.begin, range.end);

    Sum acc[FRAGS_M][FRAGS_N][4] = {};
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK) {
      // sync: all reads of the previous tiles are done
      __syncthreads();
      a_tile.store(shared.tiles.As);
      b_tile.store(shared.tiles.Bs);
      // sync: the tiles are complete
      __syncthreads();

      // load: the next tiles, on their way while these are multiplied
      if (k0 + BK < range.end) {
        a_tile.load(k0 + BK, range.end);
        b_tile.load(k0 + BK, range.end);
      }
      multiply<In>(shared.tiles.As, shared.tiles.Bs, acc);
    }

    // store: through shared memory, so that neighbouring threads store neighbours in C
    // sync: all reads of the tiles are done
    __syncthreads();
    stage(acc, shared.results);
    // sync: the results are complete
    __syncthreads();
    store(g, split_k.workspace, work, tile, shared.results);
  }

  /// acc += the warp's rows of A times its columns of B.
  template <class In, class Sum>
  static __device__ __forceinline__ void multiply(const In* As, const In* Bs,
                                                  Sum (&acc)[FRAGS_M][FRAGS_N][4]) {
    const std::uint32_t a = ptx::cvta_to_shared(As);
    const std::uint32_t b = ptx::cvta_to_shared(Bs);
    RUNG_UNROLL
    for (int byte = 0; byte < BK * static_cast<int>(sizeof(In)); byte += 32) {
      std::uint32_t a_frag[FRAGS_M][4];
      std::uint32_t b_frag[FRAGS_N / 2][4];
      RUNG_UNROLL
      for (int i = 0; i < FRAGS_M; ++i) {
        ALoader<In>::template load_fragments<true>(a_frag[i], a, Warps::row() + i * 16, byte);
      }
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N / 2; ++j) {
        BLoader<In>::template load_fragments<false>(b_frag[j], b, Warps::col() + j * 16, byte);
      }
      RUNG_UNROLL
      for (int i = 0; i < FRAGS_M; ++i) {
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N; ++j) {
          ptx::mma_m16n8<In>(acc[i][j], a_frag[i], &b_frag[j / 2][j % 2 * 2]);
        }
      }
    }
  }

  /// The warp's sums, row by row of the block's tile.
  template <class Sum>
  static __device__ __forceinline__ void stage(const Sum (&acc)[FRAGS_M][FRAGS_N][4],
                                               Sum* results) {
    const int row = Warps::row() + cuda::accumulator_row();
    const int col = Warps::col() + cuda::accumulator_col();
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        const std::uint32_t to =
            ptx::cvta_to_shared(results + (row + i * 16) * PITCH + col + j * 8);
        ptx::st_shared_v2(to, acc[i][j][0], acc[i][j][1]);
        ptx::st_shared_v2(to + 8 * PITCH * sizeof(Sum), acc[i][j][2], acc[i][j][3]);
      }
    }
  }

  /// A thread stores one column of the tile, every THREADS / BN-th row.
  template <class In, class Out>
  static __device__ __forceinline__ void store(const Gemm<In, Out>& g, void* workspace,
                                               const cuda::BlockWork& work,
                                               const cuda::TileCoord& tile,
                                               const Scalar<Out>* results) {
    const int rows = g.m - tile.row < BM ? static_cast<int>(g.m - tile.row) : BM;
    const int cols = g.n - tile.col < BN ? static_cast<int>(g.n - tile.col) : BN;
    if (!work.is_whole()) {
      cuda::share_sums<THREADS, BM * BN>(
          workspace, work, rows * BN,
          [&](int i) RUNG_INLINE_LAMBDA { return results[i / BN * PITCH + i % BN]; },
          [&](int i, const Scalar<Out>& sum) RUNG_INLINE_LAMBDA {
            if (i % BN < cols) cuda::store(g, tile.row + i / BN, tile.col + i % BN, sum);
          });
      return;
    }
    const cuda::Epilogue<Out> epilogue(g);
    const int col = static_cast<int>(threadIdx.x) % BN;
    const int row = static_cast<int>(threadIdx.x) / BN;
    Out* c = &g.c(tile.row + row, tile.col + col);
    if (col >= cols) return;
    RUNG_UNROLL
    for (int r = 0; r < BM; r += THREADS / BN) {
      if (row + r < rows) *c = epilogue.replace(results[(row + r) * PITCH + col], *c);
      c += THREADS / BN * g.c.row_stride;
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared<In, Scalar<Out>>), 1, WM, WN, 1, 1, true};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Scalar<Out>>),
            .workspace_bytes = cuda::split_bytes<Scalar<Out>>(tiles, BM * BN, chosen)};
  }

  /// As many parts of k as SMs have room for. Adding up parts takes about as long as four k-blocks.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int multiprocessors) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    const std::int64_t k_blocks = cuda::ceil_div(g.k, BK);
    const std::int64_t room = MIN_BLOCKS_PER_SM * multiprocessors / (tiles > 0 ? tiles : 1);
    const std::int64_t most = k_blocks / 2 < multiprocessors ? k_blocks / 2 : multiprocessors;
    const std::int64_t parts = room < most ? room : most;
    return {.splits = k_blocks > 6 && parts > 1 ? static_cast<int>(parts) : 1};
  }
};

}  // namespace

RUNG_CUDA_GEMM_TILES(51, any_operands, (0, AnyOperands, bf16, f16, bf16_bf16, f16_f16, tf32, i8))

}  // namespace rung
