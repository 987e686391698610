#pragma once
// Stores wgmma accumulators through shared memory: TMA stores boxes of results or, if it cannot,
// threads store whole rows of them.

#include <cstdint>

#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// True if TMA can copy boxes of C: C is aligned, and rows end at multiples of 16 bytes, the unit
/// of TMA copies.
template <class In, class Out>
constexpr bool has_boxes_of_c(const Gemm<In, Out>& g) {
  return g.n * sizeof(Out) % 16 == 0 && tensor_map_of_c(g, 64).is_aligned();
}

/// True if TMA can store results: C has boxes and need not be read.
template <class In, class Out>
constexpr bool can_tma_store(const Gemm<In, Out>& g) {
  return g.beta == Scalar<Out>{} && has_boxes_of_c(g);
}

/// The index of element (row, col) in a box of T with 128-byte swizzle.
template <class T>
__device__ __forceinline__ int index_in_box(int row, int col) {
  constexpr int CHUNK = 16 / sizeof(T);
  return row * (128 / sizeof(T)) + (col / CHUNK ^ row % 8) * CHUNK + col % CHUNK;
}

/// The index in a box of this thread's first element of 64 x 8 wgmma sums that begin at column
/// `col` of the box.
template <class T>
__device__ __forceinline__ int my_index_in_box(int col) {
  const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
  return index_in_box<T>(row, col + accumulator_col());
}

/// One warpgroup's boxes of 64 rows of 128 bytes, for 64 rows of BN results. Alternates between two
/// boxes if BN spans an even number of boxes.
template <int BN, class Out = float>
struct TmaStoreEpilogue {
  using Sum = Scalar<Out>;
  static constexpr int COUNT = BN * sizeof(Out) % 256 == 0 ? 2 : 1;
  static constexpr int SUMS_IN_ROW = 128 / sizeof(Sum);  // per box row
  static constexpr int WIDTH = 128 / sizeof(Out);        // columns per box
  static constexpr int GROUPS = WIDTH / 8;               // groups of 8 columns per box
  alignas(1024) Out at[COUNT][64 * WIDTH];

  /// The tensor map of C, or none if TMA cannot copy C.
  template <class In>
  static TensorMapSpec map(const Gemm<In, Out>& g) {
    return has_boxes_of_c(g) ? tensor_map_of_c(g, 64) : TensorMapSpec{};
  }

  /// Stores the sums of one wgmma to C, which `map` describes, from element (row, col). `barrier`
  /// is a named barrier of this warpgroup. TMA reads the boxes until wait().
  template <class In, int J>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, const EncodedTensorMap& map,
                                        std::int64_t row, std::int64_t col, const Sum (&d)[J][4],
                                        int barrier) {
    store_rest(g, map, row, col, d, barrier, can_tma_store(g), g.alpha, 0, 0);
  }

  /// Stores the results without the first `skipped_rows` rows and `skipped_cols` columns, which are
  /// those of whole boxes; these belong to another tile, which this one overlaps. TMA stores `scale`
  /// times the sums if by_tma, for callers that have already decided whether it can.
  template <class In, int J>
  __device__ __forceinline__ void store_rest(const Gemm<In, Out>& g, const EncodedTensorMap& map,
                                             std::int64_t row, std::int64_t col,
                                             const Sum (&d)[J][4], int barrier, bool by_tma,
                                             const Sum& scale, int skipped_rows, int skipped_cols) {
    if (skipped_rows >= 64) return;
    const Part part = {.row_begin = skipped_rows > 0 ? skipped_rows : 0, .col_begin = skipped_cols};
    // sync: TMA has read the previous contents of the boxes
    if (part.row_begin > 0 || part.col_begin > 0) [[unlikely]]
      wait();
    if (by_tma) {
      const auto send = [&](int to_col, std::uint32_t box) RUNG_INLINE_LAMBDA {
        ptx::tma_store_2d(&map, to_col, static_cast<int>(row), box);
      };
      store_by_tma(g, scale, send, row, col, d, barrier, part);
    } else {
      store_by_threads(g, row, col, d, barrier, part);
    }
  }

  /// Stores the results of one product of a batch. `first` is the batch's first product.
  template <class In, int J>
  __device__ __forceinline__ void store_of(std::int64_t product, const Gemm<In, Out>& first,
                                           const BatchOperand& c, const EncodedTensorMap& map,
                                           std::int64_t row, std::int64_t col, const Sum (&d)[J][4],
                                           int barrier) {
    if (can_tma_store(first) && c.stride * sizeof(Out) % 16 == 0) {
      const auto send = [&](int to_col, std::uint32_t box) RUNG_INLINE_LAMBDA {
        ptx::tma_store_3d(&map, to_col, static_cast<int>(row), static_cast<int>(product), box);
      };
      store_by_tma(first, first.alpha, send, row, col, d, barrier, {});
    } else {
      Gemm<In, Out> g = first;
      g.c.data += product * c.stride;
      store_by_threads(g, row, col, d, barrier, {});
    }
  }

  /// Stores only rows before row `end` of C; the following rows belong to other results. If 64 rows
  /// cross `end`, threads store those before it. Stores nothing if `row` >= `end`.
  template <class In, int J>
  __device__ __forceinline__ void store_before(const Gemm<In, Out>& g, const EncodedTensorMap& map,
                                               std::int64_t row, std::int64_t end, std::int64_t col,
                                               const Sum (&d)[J][4], int barrier) {
    if (row >= end) return;
    // sync: TMA has read the previous contents of the boxes
    const int rows = end - row < 64 ? static_cast<int>(end - row) : 64;
    if (rows < 64) wait();
    if (can_tma_store(g)) {
      const auto send = [&](int to_col, std::uint32_t box) RUNG_INLINE_LAMBDA {
        ptx::tma_store_2d(&map, to_col, static_cast<int>(row), box);
      };
      store_by_tma(g, g.alpha, send, row, col, d, barrier, {.row_end = rows});
      return;
    }
    Gemm<In, Out> before = g;
    before.m = end;
    store_by_threads(before, row, col, d, barrier, {});
  }

  /// The whole warpgroup waits until TMA has read the boxes. Call it before the block ends.
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
  }

 private:
  /// The part of 64 rows of sums that is stored. Its first column is that of a box.
  struct Part {
    int row_begin = 0, row_end = 64;
    int col_begin = 0;
  };

  /// Stores `scale` times the sums of a part; if it is not the whole, TMA must not be reading any
  /// box. send(col, box) stores a whole box at column `col` of C.
  template <class Send, class In, int J>
  __device__ __forceinline__ void store_by_tma(const Gemm<In, Out>& g, const Sum& scale,
                                               const Send& send, std::int64_t row, std::int64_t col,
                                               const Sum (&d)[J][4], int barrier,
                                               const Part& part) {
    static_assert(J * 8 == BN);
    const auto result = [&](const Sum& sum) { return static_cast<Out>(scale * sum); };
    const bool stores = threadIdx.x % 128 == 0;
    RUNG_UNROLL
    for (int first = 0; first < J; first += GROUPS) {
      if (first * 8 < part.col_begin) continue;
      Out* const box = at[first / GROUPS % COUNT];
      // sync: TMA has read the previous contents of the box
      if (stores) ptx::tma_store_wait_group_read<COUNT - 1>();
      ptx::bar_sync(barrier, 128);

      RUNG_UNROLL
      for (int j = 0; j < GROUPS; ++j) put(box, j * 8, result, d[first + j]);

      // sync: the box is complete and visible to the async proxy
      ptx::fence_proxy_async();
      ptx::bar_sync(barrier, 128);
      if (part.row_begin > 0 || part.row_end < 64) [[unlikely]] {
        copy_rows(g, row, col + first * 8, part, box);
      } else if (stores) {
        send(static_cast<int>(col) + first * 8, ptx::cvta_to_shared(box));
        ptx::tma_store_commit_group();
      }
    }
  }

  /// Copies the rows of a part of a box to C in place of TMA, 16 bytes per thread at a time.
  template <class In>
  static __device__ __forceinline__ void copy_rows(const Gemm<In, Out>& g, std::int64_t row,
                                                   std::int64_t col, const Part& part,
                                                   const Out* box) {
    using Chunk = Vector<Out, vector_width<Out>>;
    const int thread = static_cast<int>(threadIdx.x) % 128;
    RUNG_NO_UNROLL
    for (int i = part.row_begin * 8 + thread; i < part.row_end * 8; i += 128) {
      const int in_row = i % 8 * vector_width<Out>;
      if (col + in_row >= g.n) continue;
      *reinterpret_cast<Chunk*>(&g.c(row + i / 8, col + in_row)) =
          *reinterpret_cast<const Chunk*>(box + index_in_box<Out>(i / 8, in_row));
    }
  }

  /// Sums go through the boxes as well, so that the lanes of a warp store adjacent elements of a
  /// row of C.
  template <class In, int J>
  __device__ __forceinline__ void store_by_threads(const Gemm<In, Out>& g, std::int64_t row,
                                                   std::int64_t col, const Sum (&d)[J][4],
                                                   int barrier, const Part& part) {
    constexpr int IN_ROW = SUMS_IN_ROW / 8;  // groups of 8 columns
    static_assert(J % (COUNT * IN_ROW) == 0);
    auto* const boxes = reinterpret_cast<Sum*>(at[0]);
    const auto unchanged = [](const Sum& sum) { return sum; };
    RUNG_UNROLL
    for (int first = 0; first < J; first += COUNT * IN_ROW) {
      // sync: all threads have read the previous contents of the boxes
      ptx::bar_sync(barrier, 128);
      RUNG_UNROLL
      for (int j = 0; j < COUNT * IN_ROW; ++j) {
        put(boxes + j / IN_ROW * 64 * SUMS_IN_ROW, j % IN_ROW * 8, unchanged, d[first + j]);
      }
      // sync: the boxes are complete
      ptx::bar_sync(barrier, 128);

      RUNG_NO_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const int in_row = first * 8 + i * SUMS_IN_ROW;
        if (in_row < part.col_begin) continue;
        store_box(g, row, col + in_row, part.row_begin, boxes + i * 64 * SUMS_IN_ROW);
      }
    }
  }

  /// Each thread stores every fourth row of one column from row `begin` of the box on, whose first
  /// element is (row, col) of C. Two rows are in flight at a time, to hide the latency of shared
  /// memory and, with beta, of C.
  template <class In>
  static __device__ __forceinline__ void store_box(const Gemm<In, Out>& g, std::int64_t row,
                                                   std::int64_t col, int begin, const Sum* box) {
    const Epilogue<Out> epilogue(g);
    const int first = begin + static_cast<int>(threadIdx.x) % 128 / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane >= g.n - col) return;
    const int rows = g.m - row < 64 ? static_cast<int>(g.m - row) : 64;
    const std::int64_t apart = 4 * g.c.row_stride;
    Out* to = g.c.data + (row + first) * g.c.row_stride + col + lane;
    RUNG_NO_UNROLL
    for (int r = first; r < rows; r += 8) {
      const bool has_second = r + 4 < rows;
      const Sum sum = box[index_in_box<Sum>(r, lane)];
      const Sum second_sum = box[index_in_box<Sum>(has_second ? r + 4 : r, lane)];
      Out c = {}, second_c = {};
      if (epilogue.reads_c()) {
        c = *to;
        if (has_second) second_c = to[apart];
      }
      *to = epilogue.combine(sum, c);
      if (has_second) to[apart] = epilogue.combine(second_sum, second_c);
      to += 2 * apart;
    }
  }

  /// Writes f(sum) for this thread's elements of 64 x 8 sums to the columns of a box from `col`.
  template <class T, class F>
  static __device__ __forceinline__ void put(T* box, int col, const F& f, const Sum (&d)[4]) {
    const std::uint32_t to = ptx::cvta_to_shared(box + my_index_in_box<T>(col));
    const auto put_pair = [](std::uint32_t pair, T first, T second) {
      if constexpr (sizeof(T) == 2) {
        ptx::st_shared_v2(pair, first.bits, second.bits);
      } else {
        ptx::st_shared_v2(pair, first, second);
      }
    };
    put_pair(to, f(d[0]), f(d[1]));
    put_pair(to + 8 * 128, f(d[2]), f(d[3]));
  }
};

}  // namespace rung::cuda
