// gemm/cuda/small_matrices: batches of small matrices in one launch: a block computes several
//   products, each with a group of threads no larger than the product needs.
// from: fma_tiles | removes: a launch for each product, and the threads of a tile that a small
//   matrix does not fill | bottleneck: device memory up to about 64 rows, then loads from shared
//   memory; the kernel spills a few registers
// needs: sm_80 | try: rung bench gemm/cuda/small_matrices --batch 4096 --sizes 32

#include <type_traits>

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/operand_copy.cuh"
#include "device/cuda/ptx/ld_shared.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/ragged_tile.cuh"
#include "device/cuda/tile/thread_group.cuh"

namespace rung {
namespace {

/// A product's tile is SIZE x SIZE elements of C; each thread of its group computes TM x TN.
/// HAS_GROUPS: the products may be ragged groups.
template <int SIZE, int BK, int TM, int TN, int STAGES, int THREADS_, int BLOCKS,
          bool HAS_GROUPS = false>
struct SmallMatrices {
  static constexpr int BM = SIZE;
  static constexpr int BN = SIZE;
  static constexpr int THREADS = THREADS_;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  static constexpr int LANES_M = SIZE / TM;
  static constexpr int LANES_N = SIZE / TN;
  using Group = cuda::ThreadGroup<LANES_M * LANES_N, THREADS>;

  template <class T>
  using Copy = cuda::OperandCopy<T, SIZE, BK, Group>;
  template <class T>
  using Cols =
      cuda::Fragment<TN, LANES_N, (cuda::vector_width<T> < TN ? cuda::vector_width<T> : TN)>;

  template <class T>
  struct Shared {
    // The tiles of one group of threads.
    alignas(16) T As[STAGES][Copy<T>::TILE];
    alignas(16) T Bs[STAGES][Copy<T>::TILE];
  };

  template <class T>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& first,
                                                const cuda::Products& products) {
    auto& [As, Bs] = (&cuda::dynamic_shared<Shared<T>>())[Group::index()];

    // place
    const auto [g, tile] = cuda::product_tile<BM, BN, Group, HAS_GROUPS>(first, products);

    // load: issue the first tiles
    Copy<T> a_copy(cuda::operand_a(g), tile.row);
    Copy<T> b_copy(cuda::operand_b(g), tile.col);
    const auto copy_next = [&](int stage) RUNG_INLINE_LAMBDA {
      a_copy.start(As[stage]);
      b_copy.start(Bs[stage]);
      ptx::cp_async_commit_group();
    };
    RUNG_NO_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next(stage);

    // Neighbouring threads have neighbouring rows if they read lines of A, else vectors of rows.
    // Columns are always vectors, as they are in C.
    const int lane_row = Group::rank() / LANES_N;
    const int row_step = a_copy.is_k_major() ? LANES_M : 1;
    const int row = a_copy.is_k_major() ? lane_row : lane_row * TM;
    const int col = Cols<T>::first(Group::rank() % LANES_N);
    const int a_first = row * a_copy.extent_stride();
    const int b_first = col * b_copy.extent_stride();

    T acc[TM][TN] = {};
    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      if constexpr (STAGES == 1) copy_next(0);
      // sync: the tiles have arrived, and all reads of the previous ones are done
      ptx::cp_async_wait_group<(STAGES > 1 ? STAGES - 2 : 0)>();
      Group::sync();
      if constexpr (STAGES > 1) copy_next(now == 0 ? STAGES - 1 : now - 1);

      // multiply
      const T* a = As[now] + a_first;
      const T* b = Bs[now] + b_first;
      RUNG_NO_UNROLL
      for (int k = 0; k < BK; k += cuda::vector_width<T>) {
        T a_frag[cuda::vector_width<T>][TM];
        T b_frag[cuda::vector_width<T>][TN];
        load<TM>(a_frag, a, a_copy, [&](int i) RUNG_INLINE_LAMBDA { return i * row_step; });
        load<TN>(b_frag, b, b_copy, [](int j) RUNG_INLINE_LAMBDA { return Cols<T>::offset(j); });
        RUNG_UNROLL
        for (int s = 0; s < cuda::vector_width<T>; ++s)
          cuda::add_outer_product(acc, a_frag[s], b_frag[s]);
        a += cuda::vector_width<T> * a_copy.k_stride();
        b += cuda::vector_width<T> * b_copy.k_stride();
      }
      if constexpr (STAGES > 1) {
        now = now == STAGES - 1 ? 0 : now + 1;
      } else {
        // sync: all reads of the tiles are done
        Group::sync();
      }
    }

    // store
    RUNG_UNROLL
    for (int i = 0; i < TM; ++i) {
      store(g, tile.row + row + i * row_step, tile.col + col, acc[i]);
    }
  }

  /// A thread's elements of one operand for a vector of k-steps. Its i-th row or column is at
  /// tile + offset(i).
  template <int COUNT, class T, class Offset>
  static __device__ __forceinline__ void load(T (&to)[cuda::vector_width<T>][COUNT], const T* tile,
                                              const Copy<T>& copy, const Offset& offset) {
    constexpr int STEPS = cuda::vector_width<T>;
    const std::uint32_t from = ptx::cvta_to_shared(tile);
    constexpr auto BYTES = static_cast<int>(sizeof(T));
    if (copy.is_k_major()) {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        cuda::Vector<T, STEPS> steps;
        ptx::ld_shared(steps, from + offset(i) * copy.extent_stride() * BYTES);
        RUNG_UNROLL
        for (int s = 0; s < STEPS; ++s) to[s][i] = steps.at[s];
      }
    } else {
      constexpr int W = STEPS < COUNT ? STEPS : COUNT;
      RUNG_UNROLL
      for (int s = 0; s < STEPS; ++s) {
        RUNG_UNROLL
        for (int i = 0; i < COUNT; i += W) {
          cuda::Vector<T, W> vector;
          ptx::ld_shared(vector, from + (s * copy.k_stride() + offset(i)) * BYTES);
          RUNG_UNROLL
          for (int w = 0; w < W; ++w) to[s][i + w] = vector.at[w];
        }
      }
    }
  }

  /// Stores one row of a thread's sums.
  template <class T>
  static __device__ __forceinline__ void store(const Gemm<T, T>& g, std::int64_t row,
                                               std::int64_t col, const T (&sums)[TN]) {
    if constexpr (TN % cuda::vector_width<T> == 0) {
      RUNG_UNROLL
      for (int j = 0; j < TN; j += cuda::vector_width<T>) {
        cuda::store_vector(g, row, col + Cols<T>::offset(j), &sums[j]);
      }
    } else {
      RUNG_UNROLL
      for (int j = 0; j < TN; ++j) {
        const std::int64_t at = col + Cols<T>::offset(j);
        if (row < g.m && at < g.n) cuda::store(g, row, at, sums[j]);
      }
    }
  }

  template <class T, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, static_cast<int>(Group::COUNT * sizeof(Shared<T>)),
            1,  0,  0,  TM,      TN};
  }

  template <class T>
  static cuda::Launch launch(const Gemm<T, T>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = Group::COUNT * std::int64_t{sizeof(Shared<T>)},
            .products_per_block = Group::COUNT};
  }

  /// Chooses the smallest tile that holds C; for a long C, the larger of those that its shorter
  /// side fills. Integers have one tile, doubles three.
  template <class T>
  static cuda::GemmConfig choose(const Gemm<T, T>& g, int /*multiprocessors*/) {
    if (std::is_same_v<T, std::uint32_t>) return {.tile = 0};
    const std::int64_t shorter = g.m < g.n ? g.m : g.n;
    if (std::is_same_v<T, double>) return {.tile = shorter <= 8 ? 0 : shorter <= 16 ? 1 : 2};
    if (std::is_same_v<T, float> && shorter > 32 && shorter <= 48) return {.tile = 4};
    return {.tile = shorter <= 8 ? 0 : shorter <= 16 ? 1 : shorter <= 32 ? 2 : 3};
  }
};

// A double occupies two registers, so its threads have fewer sums.
//                             SIZE BK TM TN STAGES THREADS BLOCKS
using Eight = SmallMatrices<8, 8, 2, 4, 1, 128, 6>;
using Sixteen = SmallMatrices<16, 16, 4, 4, 1, 128, 5>;
using ThirtyTwo = SmallMatrices<32, 32, 4, 8, 1, 64, 8>;
using SixtyFour = SmallMatrices<64, 64, 8, 4, 1, 128, 3>;
using FortyEight = SmallMatrices<48, 48, 4, 4, 1, 144, 4>;
// With eight blocks per SM, it would spill registers.
using ThirtyTwoInGroups = SmallMatrices<32, 32, 4, 8, 1, 64, 6, true>;
using EightDoubles = SmallMatrices<8, 8, 2, 2, 1, 128, 6>;
using SixteenDoubles = SmallMatrices<16, 16, 4, 2, 1, 128, 5>;
using ThirtyTwoDoubles = SmallMatrices<32, 16, 4, 4, 2, 64, 6, true>;

}  // namespace

// compiled by type: f32 f64 i32
RUNG_CUDA_GEMM_TILES(small_matrices, (0, Eight, f32), (1, Sixteen, f32), (2, ThirtyTwo, f32),
                     (3, SixtyFour, f32), (4, FortyEight, f32), (5, ThirtyTwoInGroups, f32),
                     (0, EightDoubles, f64), (1, SixteenDoubles, f64), (2, ThirtyTwoDoubles, f64),
                     (0, ThirtyTwoInGroups, i32))

}  // namespace rung
