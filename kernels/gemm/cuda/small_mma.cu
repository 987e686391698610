// gemm/cuda/small_mma: batches of small matrices on tensor cores: a warp or a block computes each
//   product with mma.sync, and results are staged in shared memory so that whole lines are written
//   to C.
// from: small_matrices | removes: the FMA pipe, which multiplies 16-bit elements no faster than
//   wider ones | bottleneck: device memory; from about 128 rows on, loads from shared memory
// needs: sm_80 | try: rung bench gemm/cuda/small_mma --dtype bf16 --batch 4096 --sizes 32

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store_rows.cuh"
#include "device/cuda/load/operand_copy.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/ragged_tile.cuh"
#include "device/cuda/tile/thread_group.cuh"

namespace rung {
namespace {

/// A product's tile is SIZE x SIZE elements of C; each warp of its group computes WM x WN.
/// HAS_GROUPS: the products may be ragged groups.
template <int SIZE, int BK, int WM, int WN, int STAGES, int THREADS_, int BLOCKS,
          bool HAS_GROUPS = false>
struct SmallMma {
  static constexpr int BM = SIZE;
  static constexpr int BN = SIZE;
  static constexpr int THREADS = THREADS_;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8k16
  static constexpr int FRAGS_N = WN / 8;
  static constexpr int PITCH = SIZE + 4;  // of staged results: rows start in different banks
  using Group = cuda::ThreadGroup<SIZE / WM*(SIZE / WN) * 32, THREADS>;

  template <class In>
  using Copy = cuda::OperandCopy<In, SIZE, BK, Group>;

  template <class In>
  union Shared {
    // The tiles of one group of warps.
    struct {
      alignas(16) In As[STAGES][Copy<In>::TILE];
      alignas(16) In Bs[STAGES][Copy<In>::TILE];
    } tiles;
    float results[SIZE * PITCH];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& first,
                                                const cuda::Products& products) {
    auto& shared = (&cuda::dynamic_shared<Shared<In>>())[Group::index()];

    // place
    const auto [g, tile] = cuda::product_tile<BM, BN, Group, HAS_GROUPS>(first, products);
    const int warp = Group::rank() / 32;
    const int warp_row = warp / (SIZE / WN) * WM;
    const int warp_col = warp % (SIZE / WN) * WN;

    float acc[FRAGS_M][FRAGS_N][4] = {};
    multiply(g, tile, warp_row, warp_col, shared, acc);

    // store
    if constexpr (STAGES > 1) {
      // sync: all reads of the tiles are done, and so are the copies after the last tile
      ptx::cp_async_wait_group<0>();
      Group::sync();
    }
    stage(acc, shared.results + (warp_row + cuda::accumulator_row()) * PITCH + warp_col +
                   cuda::accumulator_col());
    // sync: the results are complete
    Group::sync();
    cuda::store_rows<BM, BN, PITCH, Group>(g, tile, shared.results);
  }

  /// acc += the warp's rows of A times its columns of B.
  template <class In, class Out>
  static __device__ __forceinline__ void multiply(const Gemm<In, Out>& g,
                                                  const cuda::TileCoord& tile, int warp_row,
                                                  int warp_col, Shared<In>& shared,
                                                  float (&acc)[FRAGS_M][FRAGS_N][4]) {
    auto& [As, Bs] = shared.tiles;

    // load: issue the first tiles
    Copy<In> a_copy(cuda::operand_a(g), tile.row);
    Copy<In> b_copy(cuda::operand_b(g), tile.col);
    const auto copy_next = [&](int stage) RUNG_INLINE_LAMBDA {
      a_copy.start(As[stage]);
      b_copy.start(Bs[stage]);
      ptx::cp_async_commit_group();
    };
    RUNG_NO_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next(stage);

    const int a_first = first_of<true>(a_copy, warp_row);
    const int b_first = first_of<false>(b_copy, warp_col);
    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      if constexpr (STAGES == 1) copy_next(0);
      // sync: the tiles have arrived, and all reads of the previous ones are done
      ptx::cp_async_wait_group<(STAGES > 1 ? STAGES - 2 : 0)>();
      Group::sync();
      if constexpr (STAGES > 1) copy_next(now == 0 ? STAGES - 1 : now - 1);

      // multiply
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        std::uint32_t a_frag[FRAGS_M][4];
        std::uint32_t b_frag[FRAGS_N / 2][4];
        load(a_frag, As[now] + a_first + k * a_copy.k_stride(), a_copy);
        load(b_frag, Bs[now] + b_first + k * b_copy.k_stride(), b_copy);
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          RUNG_UNROLL
          for (int j = 0; j < FRAGS_N; ++j) {
            ptx::mma_m16n8k16<In>(acc[i][j], a_frag[i], &b_frag[j / 2][j % 2 * 2]);
          }
        }
      }
      if constexpr (STAGES > 1) {
        now = now == STAGES - 1 ? 0 : now + 1;
      } else {
        // sync: all reads of the tiles are done
        Group::sync();
      }
    }
  }

  /// The address of this lane's line of four 8 x 8 matrices in a tile, for ldmatrix of the 16 x 16
  /// elements from row or column e on. E_FIRST: the second matrix is 8 further along the extent,
  /// else along k.
  template <bool E_FIRST, class In>
  static __device__ __forceinline__ int first_of(const Copy<In>& copy, int e) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int e8 = (E_FIRST ? lane / 8 % 2 : lane / 16) * 8;
    const int k8 = (E_FIRST ? lane / 16 : lane / 8 % 2) * 8;
    return (e + e8) * copy.extent_stride() + k8 * copy.k_stride() + lane % 8 * copy.pitch();
  }

  /// Loads fragments of 16 adjacent rows or columns each.
  template <class In, int FRAGS>
  static __device__ __forceinline__ void load(std::uint32_t (&to)[FRAGS][4], const In* tile,
                                              const Copy<In>& copy) {
    const std::uint32_t from = ptx::cvta_to_shared(tile);
    const std::uint32_t step = 16 * copy.extent_stride() * sizeof(In);
    if (copy.is_k_major()) {
      RUNG_UNROLL
      for (int i = 0; i < FRAGS; ++i) ptx::ldmatrix_x4<false>(to[i], from + i * step);
    } else {
      RUNG_UNROLL
      for (int i = 0; i < FRAGS; ++i) ptx::ldmatrix_x4<true>(to[i], from + i * step);
    }
  }

  /// Writes the warp's sums from `to` on.
  static __device__ __forceinline__ void stage(const float (&acc)[FRAGS_M][FRAGS_N][4], float* to) {
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        const std::uint32_t at = ptx::cvta_to_shared(to + i * 16 * PITCH + j * 8);
        ptx::st_shared_v2(at, acc[i][j][0], acc[i][j][1]);
        ptx::st_shared_v2(at + 8 * PITCH * sizeof(float), acc[i][j][2], acc[i][j][3]);
      }
    }
  }

  template <class In, class>
  static constexpr cuda::TileShape shape() {
    return {.BM = BM,
            .BN = BN,
            .BK = BK,
            .threads = THREADS,
            .shared_bytes = static_cast<int>(Group::COUNT * sizeof(Shared<In>)),
            .WM = WM,
            .WN = WN,
            .stages_results = true};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = Group::COUNT * std::int64_t{sizeof(Shared<In>)},
            .products_per_block = Group::COUNT};
  }

  /// Chooses the smallest tile that holds C; for a long C, one that its shorter side fills.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int /*multiprocessors*/) {
    const std::int64_t shorter = g.m < g.n ? g.m : g.n;
    return {.tile = shorter <= 16 ? 0 : shorter <= 32 ? 1 : shorter <= 64 ? 2 : 3};
  }
};

//                         SIZE BK WM  WN STAGES THREADS BLOCKS
using Sixteen = SmallMma<16, 16, 16, 16, 1, 128, 8>;
using ThirtyTwo = SmallMma<32, 32, 32, 32, 1, 128, 5>;
using SixtyFour = SmallMma<64, 64, 32, 32, 1, 128, 3, true>;
using Larger = SmallMma<128, 64, 64, 32, 2, 256, 2>;

}  // namespace

// compiled by type: bf16 f16 bf16_bf16 f16_f16
RUNG_CUDA_GEMM_TILES(small_mma, (0, Sixteen, bf16, f16, bf16_bf16, f16_f16),
                     (1, ThirtyTwo, bf16, f16, bf16_bf16, f16_f16),
                     (2, SixtyFour, bf16, f16, bf16_bf16, f16_f16),
                     (3, Larger, bf16, f16, bf16_bf16, f16_f16))

}  // namespace rung
