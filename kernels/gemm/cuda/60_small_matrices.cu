// gemm/cuda/60_small_matrices: batches of small matrices in one launch: a block computes several
//   products, each by a group of threads no larger than the product needs.
// from: 11_split_k | removes: a launch for each product, and threads of a tile that a small matrix
//   does not fill | bottleneck: device memory, up to matrices of about 64 rows; then loads from
//   shared memory
// needs: sm_80 | try: rung bench gemm/cuda/60 --batch 4096 --sizes 32

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/operand_copy.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/product_tile.cuh"
#include "device/cuda/tile/thread_group.cuh"

namespace rung {
namespace {

/// A product's tile is SIZE x SIZE elements of C, TM x TN of each thread of its group.
template <int SIZE, int BK, int TM, int TN, int STAGES, int THREADS_, int BLOCKS>
struct SmallMatrices {
  static constexpr int BM = SIZE;
  static constexpr int BN = SIZE;
  static constexpr int THREADS = THREADS_;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  static constexpr int LANES_M = SIZE / TM;
  static constexpr int LANES_N = SIZE / TN;
  using Group = cuda::ThreadGroup<LANES_M * LANES_N, THREADS>;

  template <class T>
  struct Shared {
    // Of one group.
    alignas(16) T As[STAGES][cuda::copied_size<T, SIZE, BK>];
    alignas(16) T Bs[STAGES][cuda::copied_size<T, SIZE, BK>];
  };

  /// The elements of one operand that a thread needs for W steps along k.
  template <class T, int COUNT, int LANES, bool K_MAJOR, bool APART>
  struct Reader {
    static constexpr int W = cuda::vector_width<T> < COUNT ? cuda::vector_width<T> : COUNT;
    // Lanes that read a K-major tile's lines apart from each other meet in fewer banks.
    using Places = cuda::Fragment<COUNT, LANES, APART && K_MAJOR ? 1 : W>;
    using Copy = cuda::OperandCopy<T, SIZE, BK, K_MAJOR, Group>;
    static constexpr int STEPS = cuda::vector_width<T>;

    static __device__ __forceinline__ void load(T (&to)[STEPS][COUNT], const T* tile, int first,
                                                int k) {
      if constexpr (K_MAJOR) {
        RUNG_UNROLL
        for (int i = 0; i < COUNT; ++i) {
          const T* const from = tile + (first + Places::offset(i)) * Copy::PITCH + k;
          const auto steps = *reinterpret_cast<const cuda::Vector<T, STEPS>*>(from);
          RUNG_UNROLL
          for (int s = 0; s < STEPS; ++s) to[s][i] = steps.at[s];
        }
      } else {
        RUNG_UNROLL
        for (int s = 0; s < STEPS; ++s) {
          Places::load(to[s], tile + (k + s) * Copy::PITCH + first);
        }
      }
    }
  };

  template <class T>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& first,
                                                const cuda::Products& products) {
    // place
    const cuda::ProductTile place = cuda::product_tile<BM, BN>(first, Group::COUNT);
    const Gemm<T, T> g = cuda::product_of(first, products, place.first_product + Group::index());

    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>()
                              RUNG_INLINE_LAMBDA { compute<A_K_MAJOR, B_K_MAJOR>(g, place.tile); });
  }

  template <bool A_K_MAJOR, bool B_K_MAJOR, class T>
  static __device__ __forceinline__ void compute(const Gemm<T, T>& g, const cuda::TileCoord& tile) {
    using AReader = Reader<T, TM, LANES_M, A_K_MAJOR, true>;
    using BReader = Reader<T, TN, LANES_N, B_K_MAJOR, false>;
    auto& [As, Bs] = (&cuda::dynamic_shared<Shared<T>>())[Group::index()];
    const int row = AReader::Places::first(Group::rank() / LANES_N);
    const int col = BReader::Places::first(Group::rank() % LANES_N);

    // load: the first tiles set out
    typename AReader::Copy a_copy(cuda::operand_a(g), tile.row);
    typename BReader::Copy b_copy(cuda::operand_b(g), tile.col);
    const auto copy_next = [&](int stage) RUNG_INLINE_LAMBDA {
      a_copy.start(As[stage]);
      b_copy.start(Bs[stage]);
      ptx::cp_async_commit_group();
    };
    RUNG_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next(stage);

    T acc[TM][TN] = {};
    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      if constexpr (STAGES == 1) copy_next(0);
      // sync: the tiles have arrived, and all reads of the previous ones are done
      ptx::cp_async_wait_group<(STAGES > 1 ? STAGES - 2 : 0)>();
      Group::sync();
      if constexpr (STAGES > 1) copy_next(now == 0 ? STAGES - 1 : now - 1);

      // multiply
      RUNG_NO_UNROLL
      for (int k = 0; k < BK; k += AReader::STEPS) {
        T a_frag[AReader::STEPS][TM];
        T b_frag[AReader::STEPS][TN];
        AReader::load(a_frag, As[now], row, k);
        BReader::load(b_frag, Bs[now], col, k);
        RUNG_UNROLL
        for (int s = 0; s < AReader::STEPS; ++s) {
          cuda::add_outer_product(acc, a_frag[s], b_frag[s]);
        }
      }
      if constexpr (STAGES > 1) {
        now = now == STAGES - 1 ? 0 : now + 1;
      } else {
        // sync: all reads of the tiles are done
        Group::sync();
      }
    }

    // store
    store<typename AReader::Places, typename BReader::Places>(g, tile.row + row, tile.col + col,
                                                              acc);
  }

  template <class Rows, class Cols, class T>
  static __device__ __forceinline__ void store(const Gemm<T, T>& g, std::int64_t row,
                                               std::int64_t col, const T (&acc)[TM][TN]) {
    if constexpr (TN % cuda::vector_width<T> == 0) {
      cuda::store_tile<Rows, Cols>(g, row, col, acc);
    } else {
      RUNG_UNROLL
      for (int i = 0; i < TM; ++i) {
        RUNG_UNROLL
        for (int j = 0; j < TN; ++j) {
          const std::int64_t r = row + Rows::offset(i);
          const std::int64_t c = col + Cols::offset(j);
          if (r < g.m && c < g.n) cuda::store(g, r, c, acc[i][j]);
        }
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

  /// The smallest tile that holds C, but of a long C the larger of those that its shorter side fills.
  template <class T>
  static cuda::GemmConfig choose(const Gemm<T, T>& g, int /*multiprocessors*/) {
    const std::int64_t shorter = g.m < g.n ? g.m : g.n;
    return {.tile = shorter <= 8 ? 0 : shorter <= 16 ? 1 : shorter <= 32 ? 2 : 3};
  }
};

// A double occupies two registers, so its threads have fewer sums.
//                             SIZE BK TM TN STAGES THREADS BLOCKS
using Eight = SmallMatrices<8, 8, 2, 4, 1, 128, 6>;
using Sixteen = SmallMatrices<16, 16, 4, 4, 1, 128, 5>;
using ThirtyTwo = SmallMatrices<32, 32, 4, 8, 1, 128, 4>;
using SixtyFour = SmallMatrices<64, 16, 8, 4, 3, 128, 4>;
using EightDoubles = SmallMatrices<8, 8, 2, 2, 1, 128, 6>;
using SixteenDoubles = SmallMatrices<16, 16, 4, 2, 1, 128, 5>;
using ThirtyTwoDoubles = SmallMatrices<32, 16, 4, 4, 2, 64, 8>;
using SixtyFourDoubles = SmallMatrices<64, 16, 4, 4, 2, 256, 2>;

}  // namespace

// compiled by type: f32 f64 i32
RUNG_CUDA_GEMM_TILES(60, small_matrices, (0, Eight, f32, i32), (1, Sixteen, f32, i32),
                     (2, ThirtyTwo, f32, i32), (3, SixtyFour, f32, i32), (0, EightDoubles, f64),
                     (1, SixteenDoubles, f64), (2, ThirtyTwoDoubles, f64),
                     (3, SixtyFourDoubles, f64))

}  // namespace rung
