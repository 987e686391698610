// gemm/cuda/weight_stream: 4- or 8-bit weights times a vector: each warp streams a run of weight
//   records through shared memory; the columns of a matrix instruction sum eight groups of k, which
//   are scaled together.
// from: weight_only | removes: barriers, matrix instructions for columns that do not exist, and
//   most of the cost of scaling a group | bottleneck: device memory
// needs: sm_80 | try: rung verify gemm/cuda/weight_stream

#include "device/cuda/entry/weight_only.cuh"
#include "device/cuda/epilogue/weight_only_results.cuh"
#include "device/cuda/load/record_stream.cuh"
#include "device/cuda/ptx/early_launch.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/record_sums.cuh"

namespace rung {
namespace {

/// A block multiplies a row of A by up to ROWS rows of the weights, in tiles of 16. Its warps share
/// the records of all tiles: a warp has a run of records of one or more tiles.
template <int BITS, int STAGES>
struct WeightStream {
  static constexpr int WARPS = 16;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int ROWS = 1024;
  static constexpr int BK = WeightLayout::steps;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr int PREFETCHED = 4096;  // bytes of a warp's first records
  static constexpr int SLOTS = ROWS / WeightLayout::rows + WARPS;  // each for a sum of 16 rows
  using Form = cuda::RecordForm<BITS>;
  using Records = cuda::RecordStream<BITS, STAGES>;

  /// The row of A follows it: the steps of the block's split of k, in other banks than the zeros.
  struct Shared {
    typename Records::Shared records[WARPS];
    float partial[SLOTS][WeightLayout::rows];
    alignas(128) std::uint16_t unused[32];
    std::uint16_t zeros[BK + 32];
  };
  static_assert(sizeof(Shared) % 128 == 0);
  static_assert(cuda::record_columns + STAGES - 1 <= Records::SCALES,
                "a batch keeps its scales to its end");

  /// The row of A, the rows of the weights and the k-steps that a block multiplies.
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
      // The numbers of tiles of two blocks differ by at most one.
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
    // Broadcast from lane 0, so that the compiler knows that the warp does not diverge.
    const int warp = static_cast<int>(ptx::shfl_idx(threadIdx.x / 32, 0));

    Records records(args.layout, form, args.weights, work.records, warp, WARPS,
                    shared.records[warp]);
    ptx::let_next_start();
    records.prefetch(PREFETCHED);
    cuda::RecordSums<In, BITS, Records> sums(
        form, records, work.records.count, shared.partial + warp + records.tile(),
        ptx::cvta_to_shared(xs), ptx::cvta_to_shared(shared.zeros));
    clear(shared);

    // sync: the previous kernels, which may have written A, the weights, C or the workspace, have
    // finished, and their writes are visible
    ptx::wait_for_previous();

    // load: the first group of copies is the row of A
    copy_row(args.gemm.problem, work, xs);
    records.begin();
    // sync: this thread's copies of A have arrived, then those of all threads
    ptx::cp_async_wait_group<STAGES - 1>();
    __syncthreads();

    // multiply
    while (sums.left() > 0) sums.add_batch(records);

    // store
    // sync: the sums of all warps are complete
    __syncthreads();
    store(args, work, shared);
  }

  /// Writes the zeros, and clears the sums of warps without records, because a tile may have few.
  static __device__ __forceinline__ void clear(Shared& shared) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread < BK + 32) shared.zeros[thread] = 0;
    for (int i = thread; i < SLOTS * WeightLayout::rows; i += THREADS) {
      shared.partial[i / WeightLayout::rows][i % WeightLayout::rows] = 0;
    }
  }

  /// Issues the copies of the row of A; steps after k are 0.
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

  /// The warp of a block that has the record.
  static __device__ __forceinline__ int warp_of(int record, int records) {
    return (WARPS * (record + 1) - 1) / records;
  }

  template <class In>
  static __device__ __forceinline__ void store(const cuda::WeightOnlyArgs<In>& args,
                                               const Work& work, const Shared& shared) {
    const std::int64_t row0 = work.records.first_tile * WeightLayout::rows;
    const int in_tile = work.records.count, records = in_tile * work.records.tiles;
    // Adds the sums of warps in order. Each tile of each warp has a slot.
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
using Stream4 = WeightStream<4, 5>;
using Stream8 = WeightStream<8, 4>;

}  // namespace

// compiled by type: bf16 f16
// also compiled for: sm_90, where it starts before the previous kernel has finished
RUNG_WEIGHT_ONLY_TILES(weight_stream, (0, Stream4), (1, Stream8))

}  // namespace rung
