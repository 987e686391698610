// gemm/cuda/73_weight_stream: weights of 4 or 8 bits by a vector: each warp streams a run of records
//   through shared memory; columns of a matrix instruction sum eight groups of k, scaled together.
// from: 71_weight_only | removes: barriers, matrix instructions for columns that do not exist, and
//   most of what a group takes for its scales | bottleneck: device memory
// needs: sm_80 | try: rung verify gemm/cuda/73

#include "device/cuda/entry/weight_only.cuh"
#include "device/cuda/epilogue/weight_only_results.cuh"
#include "device/cuda/load/record_stream.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/weight_record.cuh"

namespace rung {
namespace {

/// A block takes a row of A and up to ROWS rows of the weights, in tiles of 16. Its warps share the
/// records of all tiles: a warp has a run of them, of one tile or several.
template <int BITS, int STAGES>
struct WeightStream {
  static constexpr int WARPS = 16;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int ROWS = 1024;
  static constexpr int BK = WeightLayout::steps;
  static constexpr int COLS = 8;  // of a matrix instruction: a group of k each
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int SLOTS = ROWS / WeightLayout::rows + WARPS;  // for a sum of 16 rows each
  using Form = cuda::RecordForm<BITS>;
  using Records = cuda::RecordStream<BITS, STAGES>;

  /// Behind it is the row of A: the steps of the block's part of k, in other banks than the zeros.
  struct Shared {
    typename Records::Shared records[WARPS];
    float partial[SLOTS][WeightLayout::rows];
    alignas(128) std::uint16_t unused[32];
    std::uint16_t zeros[BK + 32];
  };
  static_assert(sizeof(Shared) % 128 == 0);
  static_assert(COLS + STAGES - 1 <= Records::SCALES, "a batch keeps its scales to its end");

  /// The row of A, the rows of the weights, and the steps of k, that a block multiplies.
  struct Work {
    cuda::BlockWork block;
    std::int64_t row;
    cuda::KRange range;
    cuda::RecordRange records;

    template <class In>
    __device__ __forceinline__ explicit Work(const cuda::WeightOnlyArgs<In>& args)
        : block(cuda::block_work(args.gemm.split_k)) {
      const Gemm<In, float>& g = args.gemm.problem;
      const unsigned row_blocks =
          gridDim.x / static_cast<unsigned>(args.gemm.split_k.splits) / static_cast<unsigned>(g.m);
      row = block.tile / row_blocks;
      // All blocks have as many tiles as others, or one more.
      const std::int64_t number = block.tile % row_blocks;
      const std::int64_t tiles = args.layout.row_tiles();
      range = cuda::part_of_k<BK>(g.k, block.parts, block.part);
      records.first_tile = tiles * number / row_blocks;
      records.tiles = static_cast<int>(tiles * (number + 1) / row_blocks - records.first_tile);
      records.first = range.begin / BK;
      records.count = range.end <= range.begin
                          ? 0
                          : static_cast<int>(cuda::ceil_div(range.end - range.begin, BK));
    }
  };

  template <class In>
  static __device__ __forceinline__ void kernel(const cuda::WeightOnlyArgs<In>& args,
                                                const cuda::TensorMaps&) {
    auto& shared = cuda::dynamic_shared<Shared>();
    In* const xs = reinterpret_cast<In*>(&shared + 1);

    // place
    const Work work(args);
    const Form form(args.layout);
    // From lane 0: so the compiler knows that a warp does not diverge.
    const int warp = static_cast<int>(ptx::shfl_idx(threadIdx.x / 32, 0));

    // load: the first group of copies is the row of A
    copy_row(args.gemm.problem, work, xs);
    Records records(args.layout, form, args.weights, work.records, warp, WARPS,
                    shared.records[warp]);
    Sums<In> sums(form, records, work.records.count, shared, ptx::cvta_to_shared(xs), warp);
    clear(shared);
    // sync: this thread's copies of A have arrived, then those of all threads
    ptx::cp_async_wait_group<STAGES - 1>();
    __syncthreads();

    // multiply
    while (sums.left() > 0) sums.add_batch(records);

    // store
    // sync: the sums of all warps are there
    __syncthreads();
    store(args, work, shared);
  }

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  /// Zeros; and no sums of warps without records, of which a tile may have few.
  static __device__ __forceinline__ void clear(Shared& shared) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread < BK + 32) shared.zeros[thread] = 0;
    for (int i = thread; i < SLOTS * WeightLayout::rows; i += THREADS) {
      shared.partial[i / WeightLayout::rows][i % WeightLayout::rows] = 0;
    }
  }

  /// Starts to copy the steps of the row of A; those beyond k are 0.
  template <class In>
  static __device__ __forceinline__ void copy_row(const Gemm<In, float>& g, const Work& work,
                                                  In* xs) {
    constexpr int W = 8;
    const bool has_vectors = g.a.col_stride == 1 && g.a.row_stride % W == 0 && g.k % W == 0 &&
                             reinterpret_cast<std::uintptr_t>(g.a.data) % 16 == 0;
    for (int v = static_cast<int>(threadIdx.x); v < work.records.count * (BK / W); v += THREADS) {
      const std::int64_t k = work.range.begin + v * W;
      In* const to = xs + v * W;
      if (has_vectors) {
        const bool exists = k < g.k;
        ptx::cp_async<16>(ptx::cvta_to_shared(to), exists ? &g.a(work.row, k) : g.a.data,
                          exists ? 16 : 0);
      } else {
        for (int w = 0; w < W; ++w) to[w] = k + w < g.k ? g.a(work.row, k + w) : In{};
      }
    }
    ptx::cp_async_commit_group();
  }

  /// The sums of a warp's records. Column c of the matrix instructions' second factor is the row of
  /// A in the steps of group c of a batch of records, and 0 in all others, so that their sums stay
  /// apart until the whole batch gets its scales. A batch is up to COLS groups of one tile.
  template <class In>
  class Sums {
   public:
    __device__ __forceinline__ Sums(const Form& form, const Records& records, int in_tile,
                                    Shared& shared, std::uint32_t xs, int warp)
        : form_(form),
          shared_(shared),
          slot_(warp + records.tile()),
          in_tile_(in_tile),
          at_(records.at()),
          left_(records.count()),
          groups_(form.has_two_groups ? 2 : 1) {
      // This lane gives ldmatrix the addresses of column lane % 8.
      xs_ = xs + lane() / 8 * 16;
      zeros_ = ptx::cvta_to_shared(shared.zeros) + lane() / 8 * 16;
      // Its sums are of columns 2 (lane % 4) and the next: of two records, or two groups of one.
      const int column = lane() % 4 * 2;
      record_of_column_[0] = column / groups_;
      record_of_column_[1] = (column + 1) / groups_;
      // Without zero points, elements of 4 bits have 8.
      constexpr std::uint32_t eights[2] = {8, 8};
      RUNG_UNROLL
      for (auto& of_half : minus_zeros_) cuda::minus_zeros_of<In>(of_half, eights);
    }

    /// Records that are left.
    __device__ __forceinline__ int left() const { return left_; }

    __device__ __forceinline__ void add_batch(Records& records) {
      constexpr std::uint32_t STEP = BK * sizeof(In);
      int count = COLS / groups_;
      if (count > in_tile_ - at_) count = in_tile_ - at_;
      if (count > left_) count = left_;
      std::uint32_t x = xs_ + static_cast<std::uint32_t>(at_) * STEP;
      const std::uint32_t end = x + static_cast<std::uint32_t>(count) * STEP;
      // Where this lane's column has the row of A, in either half of a record.
      const int mine = lane() % COLS;
      const std::uint32_t at = x + static_cast<std::uint32_t>(mine / groups_) * STEP;
      const std::uint32_t first = mine % groups_ == 0 ? at : 0;
      const std::uint32_t second = mine % groups_ == groups_ - 1 ? at : 0;
      RUNG_NO_UNROLL
      for (; x != end; x += STEP) {
        records.wait();
        if (BITS == 4 && form_.has_zeros) load_zeros(records.zeros());
        add_record(records, x == first ? x : zeros_, x == second ? x : zeros_);
        records.advance();
      }
      add_scaled(records, records.count() - left_, count);
      RUNG_UNROLL
      for (float& sum : sums_) sum = 0;
      at_ += count;
      left_ -= count;
      if (at_ == in_tile_ || left_ == 0) end_tile();
    }

   private:
    /// acc_ += the sums of a batch, `count` records from `first` on, times their scales.
    __device__ __forceinline__ void add_scaled(const Records& records, int first, int count) {
      // sync: the scales that all lanes have copied are there
      ptx::bar_warp_sync();
      RUNG_UNROLL
      for (int i = 0; i < 2; ++i) {
        if (record_of_column_[i] >= count) continue;
        const unsigned char* const scales = records.scales(first + record_of_column_[i]);
        const int of_group = i * (groups_ - 1) * WeightLayout::rows;
        RUNG_UNROLL
        for (int half = 0; half < 2; ++half) {
          acc_[half] += scale_at(scales, of_group + lane() / 4 + half * 8) * sums_[half * 2 + i];
        }
      }
      // sync: all lanes have read them, before any copies others there
      ptx::bar_warp_sync();
    }

    __device__ __forceinline__ float scale_at(const unsigned char* scales, int i) const {
      if (form_.scale == WeightScale::f32) return reinterpret_cast<const float*>(scales)[i];
      if (form_.scale == WeightScale::bf16) {
        return static_cast<float>(reinterpret_cast<const bfloat16*>(scales)[i]);
      }
      return static_cast<float>(reinterpret_cast<const float16*>(scales)[i]);
    }

    /// Stores this warp's part of the tile's sums.
    __device__ __forceinline__ void end_tile() {
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        float sum = acc_[half] * cuda::WeightPair<In, BITS>::inverse_of_fraction;
        sum += ptx::shfl_idx(sum, lane() ^ 1);
        sum += ptx::shfl_idx(sum, lane() ^ 2);
        if (lane() % 4 == 0) shared_.partial[slot_][lane() / 4 + half * 8] = sum;
        acc_[half] = 0;
      }
      ++slot_;
      at_ = 0;
    }

    /// The zero points of a record, for unpack_fragment().
    __device__ __forceinline__ void load_zeros(const unsigned char* zeros) {
      RUNG_UNROLL
      for (int group = 0; group < 2; ++group) {
        const unsigned char* const from =
            zeros + form_.group_of(group * BK / 2) * WeightLayout::rows + lane() / 4;
        const std::uint32_t of_rows[2] = {from[0], from[8]};
        cuda::minus_zeros_of<In>(minus_zeros_[group], of_rows);
      }
    }

    /// The addresses of the lane's column in both halves of the record.
    __device__ __forceinline__ void add_record(const Records& records, std::uint32_t first,
                                               std::uint32_t second) {
      constexpr int CHUNK = cuda::chunk_steps<BITS>;
      RUNG_UNROLL
      for (int k = 0; k < BK; k += CHUNK) {
        const int half = k / (BK / 2);
        multiply_steps<0>(records.words(k / CHUNK).at, minus_zeros_[half],
                          (half == 0 ? first : second) + k * static_cast<int>(sizeof(In)));
      }
    }

    /// sums_ += 32 steps of a chunk from STEP on, and those behind them, without scales.
    template <int STEP>
    __device__ __forceinline__ void multiply_steps(const std::uint32_t (&words)[4],
                                                   const std::uint32_t (&minus_zeros)[2],
                                                   std::uint32_t x) {
      std::uint32_t a[4], b[4];
      ptx::ldmatrix_x4<false>(b, x + STEP * static_cast<int>(sizeof(In)));
      const std::uint32_t first[] = {b[0], b[1]}, second[] = {b[2], b[3]};
      cuda::unpack_fragment<In, BITS, STEP>(a, words, minus_zeros);
      ptx::mma_m16n8k16<In>(sums_, a, first);
      cuda::unpack_fragment<In, BITS, STEP + 16>(a, words, minus_zeros);
      ptx::mma_m16n8k16<In>(sums_, a, second);
      if constexpr (STEP + 32 < cuda::chunk_steps<BITS>) {
        multiply_steps<STEP + 32>(words, minus_zeros, x);
      }
    }

    const Form& form_;
    Shared& shared_;
    int slot_;                         // of shared.partial, for the tile
    int in_tile_, at_, left_;          // records: of a tile, before the batch in its tile, left
    int groups_;                       // of a record
    std::uint32_t xs_, zeros_;         // the lane's addresses of the row of A, and of zeros
    int record_of_column_[2];          // of the lane's two columns, in a batch
    std::uint32_t minus_zeros_[2][2];  // of both halves of a record
    float sums_[4] = {}, acc_[2] = {};
  };

  /// The warp that has a record, of those of a block.
  static __device__ __forceinline__ int warp_of(int record, int records) {
    return (WARPS * (record + 1) - 1) / records;
  }

  template <class In>
  static __device__ __forceinline__ void store(const cuda::WeightOnlyArgs<In>& args,
                                               const Work& work, const Shared& shared) {
    const std::int64_t row0 = work.records.first_tile * WeightLayout::rows;
    const int in_tile = work.records.count, records = in_tile * work.records.tiles;
    // Adds the sums of warps in their order. Each tile of each warp has a slot.
    const auto result = [&](int i) RUNG_INLINE_LAMBDA {
      const int tile = i / WeightLayout::rows;
      float sum = 0;
      if (records == 0) return sum;
      const int last = warp_of((tile + 1) * in_tile - 1, records);
      for (int warp = warp_of(tile * in_tile, records); warp <= last; ++warp) {
        sum += shared.partial[warp + tile][i % WeightLayout::rows];
      }
      return sum;
    };
    const auto store = [&](int i, float sum) RUNG_INLINE_LAMBDA {
      if (row0 + i < args.gemm.problem.n) {
        cuda::store_weight_only(args, work.row, row0 + i, sum);
      }
    };
    cuda::store_by_last<THREADS, ROWS>(args.gemm.split_k.workspace, work.block,
                                       work.records.tiles * WeightLayout::rows, result, store);
  }

  static constexpr cuda::TileShape shape() { return {1, ROWS, BK, THREADS, sizeof(Shared)}; }
};

//                         BITS STAGES
using Stream4 = WeightStream<4, 6>;
using Stream8 = WeightStream<8, 4>;

}  // namespace

// compiled by type: bf16 f16
RUNG_WEIGHT_ONLY_TILES(73, weight_stream, (0, Stream4), (1, Stream8))

}  // namespace rung
