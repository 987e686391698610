// gemm/cuda/73_weight_stream: weights of 4 or 8 bits by a vector: each warp streams records of its
//   own part of k, without a barrier; rows of A stay in shared memory.
// from: 71_weight_only | removes: a barrier of the block for each k-block, and matrix instructions
//   for columns that do not exist | bottleneck: unpacking of 4 bits; for 8 bits, device memory
// needs: sm_80 | try: rung verify gemm/cuda/73

#include "device/cuda/entry/weight_only.cuh"
#include "device/cuda/epilogue/weight_only_results.cuh"
#include "device/cuda/load/record_stream.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/weight_record.cuh"

namespace rung {
namespace {

/// A block takes COLS rows of A and up to ROWS rows of the weights, 16 of them at a time, whose k
/// its warps share.
template <int BITS, int STAGES>
struct WeightStream {
  static constexpr int COLS = 8;
  static constexpr int WARPS = 16;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int ROWS = 128;
  static constexpr int BK = WeightLayout::steps;
  static constexpr int RECORD = cuda::most_record_bytes<BITS>;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int PARTIAL = COLS * WeightLayout::rows;  // sums of a warp
  using Form = cuda::RecordForm<BITS>;
  using Records = cuda::RecordStream<RECORD, STAGES>;
  using Results = cuda::WeightOnlyResults<COLS, ROWS>;

  /// Behind it are the rows of A: of each one the steps of the block's part of k, then 16 bytes, so
  /// that rows begin in different banks.
  struct Shared {
    alignas(16) unsigned char records[WARPS][STAGES][RECORD];
    float partial[2][WARPS][PARTIAL];
    alignas(16) Results results;
  };

  /// Rows of A and of the weights, and steps of k, that a block multiplies.
  struct Work {
    cuda::BlockWork block;
    std::int64_t few0;
    int few;
    std::int64_t first_tile;  // of 16 rows of the weights
    int tiles;
    cuda::KRange range;

    template <class In>
    __device__ __forceinline__ explicit Work(const cuda::WeightOnlyArgs<In>& args)
        : block(cuda::block_work(args.gemm.split_k)) {
      const Gemm<In, float>& g = args.gemm.problem;
      const auto col_blocks = static_cast<unsigned>(cuda::ceil_div(g.m, COLS));
      const unsigned row_blocks =
          gridDim.x / static_cast<unsigned>(args.gemm.split_k.splits) / col_blocks;
      few0 = std::int64_t{block.tile / row_blocks} * COLS;
      few = static_cast<int>(g.m - few0 < COLS ? g.m - few0 : COLS);
      // All blocks have as many tiles as others, or one more.
      const std::int64_t number = block.tile % row_blocks;
      first_tile = args.layout.row_tiles() * number / row_blocks;
      tiles = static_cast<int>(args.layout.row_tiles() * (number + 1) / row_blocks - first_tile);
      range = cuda::part_of_k<BK>(g.k, block.parts, block.part);
    }
    __device__ __forceinline__ int records() const {
      return range.end <= range.begin
                 ? 0
                 : static_cast<int>(cuda::ceil_div(range.end - range.begin, BK));
    }
    /// Elements between two rows of A in shared memory.
    __device__ __forceinline__ int pitch() const { return records() * BK + 8; }
  };

  template <class In>
  static __device__ __forceinline__ void kernel(const cuda::WeightOnlyArgs<In>& args,
                                                const cuda::TensorMaps&) {
    auto& shared = cuda::dynamic_shared<Shared>();
    In* const xs = reinterpret_cast<In*>(&shared + 1);

    // place
    const Work work(args);
    Records records(args.layout, args.weights,
                    {work.first_tile, work.tiles, work.range.begin / BK, work.records()}, warp(),
                    WARPS, shared.records[warp()]);

    // load
    copy_rows(args.gemm.problem, work, xs);
    RUNG_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) records.copy_next();
    // sync: this thread's copies of A have arrived, then those of all threads
    ptx::cp_async_wait_group<STAGES - 2>();
    __syncthreads();

    const Form form(args.layout);
    for (int tile = 0; tile < work.tiles; ++tile) {
      float acc[1][4] = {};
      multiply_tile<In>(form, records, xs, work, acc);
      float* const partial = shared.partial[tile % 2][warp()];
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        partial[(lane() % 4 * 2 + i % 2) * WeightLayout::rows + lane() / 4 + i / 2 * 8] = acc[0][i];
      }
      // sync: the sums of all warps are there; those of the tile before have been added up
      __syncthreads();
      add_warps(shared, tile);
    }

    // store
    // sync: the results are complete
    __syncthreads();
    store(args, work, shared);
  }

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x) / 32; }

  /// Starts to copy the steps of all rows of A; steps beyond k are 0.
  template <class In>
  static __device__ __forceinline__ void copy_rows(const Gemm<In, float>& g, const Work& work,
                                                   In* xs) {
    constexpr int W = 8;
    const int in_row = work.records() * (BK / W);
    const bool has_vectors = g.a.col_stride == 1 && g.a.row_stride % W == 0 && g.k % W == 0 &&
                             reinterpret_cast<std::uintptr_t>(g.a.data) % 16 == 0;
    for (int row = 0; row < work.few; ++row) {
      for (int v = static_cast<int>(threadIdx.x); v < in_row; v += THREADS) {
        const std::int64_t k = work.range.begin + v * W;
        In* const to = xs + row * work.pitch() + v * W;
        if (has_vectors) {
          const bool exists = k < g.k;
          ptx::cp_async<16>(ptx::cvta_to_shared(to), exists ? &g.a(work.few0 + row, k) : g.a.data,
                            exists ? 16 : 0);
        } else {
          for (int w = 0; w < W; ++w) to[w] = k + w < g.k ? g.a(work.few0 + row, k + w) : In{};
        }
      }
    }
  }

  /// acc += this warp's part of k of 16 rows of the weights.
  template <class In>
  static __device__ __forceinline__ void multiply_tile(const Form& form, Records& records,
                                                       const In* xs, const Work& work,
                                                       float (&acc)[1][4]) {
    // The rows and steps of A whose addresses this lane gives to ldmatrix. Rows that do not exist
    // are the last one: their sums are not stored.
    const int row = lane() % 8, step = lane() / 8 * 8;
    std::uint32_t x = ptx::cvta_to_shared(
        xs + (row < work.few ? row : work.few - 1) * work.pitch() + records.first() * BK + step);
    RUNG_NO_UNROLL
    for (int i = 0; i < records.count(); ++i) {
      multiply_record<In>(form, records.wait(), x, acc);
      x += BK * sizeof(In);
    }
  }

  /// acc += 128 steps, each group of them times its scales.
  template <class In>
  static __device__ __forceinline__ void multiply_record(const Form& form,
                                                         const unsigned char* record,
                                                         std::uint32_t x, float (&acc)[1][4]) {
    constexpr int CHUNK = cuda::chunk_steps<BITS>;
    float sums[1][4] = {};
    RUNG_UNROLL
    for (int k = 0; k < BK; k += CHUNK) {
      std::uint32_t words[4], minus_zeros[2] = {};
      cuda::load_words(words, record, k / CHUNK);
      if constexpr (BITS == 4) cuda::load_minus_zeros<In>(minus_zeros, record, form, k);
      multiply_steps<In, 0>(words, minus_zeros, x + k * sizeof(In), sums);
      if (!form.ends_before(k + CHUNK)) continue;
      cuda::promote(record, form, form.group_of(k), sums, acc);
      RUNG_UNROLL
      for (auto& sum : sums) sum[0] = sum[1] = sum[2] = sum[3] = 0;
    }
  }

  /// sums += 32 steps of a chunk from STEP on, and those behind them, without scales.
  template <class In, int STEP>
  static __device__ __forceinline__ void multiply_steps(const std::uint32_t (&words)[4],
                                                        const std::uint32_t (&minus_zeros)[2],
                                                        std::uint32_t x, float (&sums)[1][4]) {
    std::uint32_t a[4], b[4];
    ptx::ldmatrix_x4<false>(b, x + STEP * static_cast<int>(sizeof(In)));
    const std::uint32_t first[] = {b[0], b[1]}, second[] = {b[2], b[3]};
    cuda::unpack_fragment<In, BITS, STEP>(a, words, minus_zeros);
    ptx::mma_m16n8k16<In>(sums[0], a, first);
    cuda::unpack_fragment<In, BITS, STEP + 16>(a, words, minus_zeros);
    ptx::mma_m16n8k16<In>(sums[0], a, second);
    if constexpr (STEP + 32 < cuda::chunk_steps<BITS>) {
      multiply_steps<In, STEP + 32>(words, minus_zeros, x, sums);
    }
  }

  /// Adds the sums of all warps, in their order.
  static __device__ __forceinline__ void add_warps(Shared& shared, int tile) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= PARTIAL) return;
    float total = 0;
    RUNG_UNROLL
    for (int w = 0; w < WARPS; ++w) total += shared.partial[tile % 2][w][i];
    shared.results.at[i / WeightLayout::rows * Results::PITCH + tile * WeightLayout::rows +
                      i % WeightLayout::rows] = total;
  }

  template <class In>
  static __device__ __forceinline__ void store(const cuda::WeightOnlyArgs<In>& args,
                                               const Work& work, const Shared& shared) {
    const std::int64_t many0 = work.first_tile * WeightLayout::rows;
    const std::int64_t rows = args.gemm.problem.n - many0 < work.tiles * WeightLayout::rows
                                  ? args.gemm.problem.n - many0
                                  : work.tiles * WeightLayout::rows;
    // Of ROWS rows, a block may have fewer.
    const auto result = [&](int i) RUNG_INLINE_LAMBDA {
      return i % ROWS < rows ? shared.results.at[i / ROWS * Results::PITCH + i % ROWS] : 0.0f;
    };
    const auto store = [&](int i, float sum) RUNG_INLINE_LAMBDA {
      if (i % ROWS < rows) {
        cuda::store_weight_only(args, work.few0 + i / ROWS, many0 + i % ROWS, sum);
      }
    };
    cuda::store_by_last<THREADS, COLS * ROWS>(args.gemm.split_k.workspace, work.block,
                                              work.few * ROWS, result, store);
  }

  static constexpr cuda::TileShape shape() { return {COLS, ROWS, BK, THREADS, sizeof(Shared)}; }
};

//                         BITS STAGES
using Stream4 = WeightStream<4, 5>;
using Stream8 = WeightStream<8, 4>;

}  // namespace

// compiled by type: bf16 f16
RUNG_WEIGHT_ONLY_TILES(73, weight_stream, (0, Stream4), (1, Stream8))

}  // namespace rung
