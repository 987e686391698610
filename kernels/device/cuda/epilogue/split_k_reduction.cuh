#pragma once
// The split-K reduction for warpgroups with wgmma accumulators: warpgroups of several blocks hold
// partial sums of the same results. Each writes its own to the workspace, in register order, and
// adds up a share of all. The order of additions is fixed, so results are bitwise reproducible.

#include <cstdint>

#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// The partial sums of one warpgroup per block: 64 rows and 8 J columns. They are stored in vectors
/// of a thread's four sums in 16 rows and 8 columns: two adjacent columns of two rows, 8 apart.
template <int J, class Sum = float>
class SplitKReduction {
 public:
  /// For warpgroup `group` of the `groups` that compute a split of a tile.
  __device__ __forceinline__ SplitKReduction(void* workspace, const WorkTile& work, unsigned groups,
                                             unsigned group)
      : semaphore_(static_cast<Semaphore*>(workspace) + work.split_tile * groups + group),
        stride_(std::int64_t{groups} * COUNT),
        split_(work.split),
        splits_(work.splits) {
    auto* const sums = static_cast<unsigned char*>(workspace) + semaphores_bytes;
    const unsigned first_slot = work.slot - static_cast<unsigned>(work.split);
    first_ = reinterpret_cast<Quad*>(sums) + first_slot * stride_ + group * COUNT;
  }

  /// Stores a share of the results, from element (row, col) of C. `barrier` is a named barrier of
  /// this warpgroup.
  template <class In, class Out>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col,
                                        const Sum (&acc)[J][4], int barrier) const {
    store_rest(g, row, col, acc, barrier, 0, 0);
  }

  /// Stores the results without the first rows and columns, which belong to another tile.
  template <class In, class Out>
  __device__ __forceinline__ void store_rest(const Gemm<In, Out>& g, std::int64_t row,
                                             std::int64_t col, const Sum (&acc)[J][4], int barrier,
                                             int skipped_rows, int skipped_cols) const {
    if (skipped_rows >= 64) return;
    reduce(g.m - row, g.n - col, acc, barrier,
           [&](int i, int j, const Sum(&sums)[4]) RUNG_INLINE_LAMBDA {
             if (j < skipped_cols) return;
             if (i >= skipped_rows) store_pair(g, row + i, col + j, sums[0], sums[1]);
             if (i + 8 >= skipped_rows) store_pair(g, row + i + 8, col + j, sums[2], sums[3]);
           });
  }

  /// Writes the partial sums, waits for the others, and adds up a share. Calls take(i, j, sums) for
  /// each group of four sums: elements (i, j) and (i, j + 1), and those 8 rows below. `rows` and
  /// `cols` are the distances to the edges of C; sums outside need not exist.
  template <class Take>
  __device__ __forceinline__ void reduce(std::int64_t rows, std::int64_t cols,
                                         const Sum (&acc)[J][4], int barrier,
                                         const Take& take) const {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const int warp = thread / 32;
    // Sums outside C are not written.
    const int warps = chunks_of<16>(rows, 4);
    const int columns = chunks_of<8>(cols, J);
    if (warp < warps) {
      Quad* const mine = first_ + split_ * stride_ + warp * columns * 32 + thread % 32;
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        if (j < columns) mine[j * 32] = {acc[j][0], acc[j][1], acc[j][2], acc[j][3]};
      }
    }

    // sync: all warpgroups have written their partial sums
    ptx::bar_sync(barrier, 128);
    if (thread == 0) arrive_and_wait(*semaphore_, splits_);
    ptx::bar_sync(barrier, 128);

    const int count = warps * columns * 32;
    const int begin = count * split_ / splits_;
    const int end = count * (split_ + 1) / splits_;
    add_up(columns, begin, end, take);
  }

 private:
  static constexpr int COUNT = J * 128;
  using Quad = Vector<Sum, 4>;

  /// Adds up vectors [begin, end). A thread has sixteen loads in flight: of four vectors or, with
  /// more than four splits, of sixteen splits of one vector.
  template <class Take>
  __device__ __forceinline__ void add_up(int columns, int begin, int end, const Take& take) const {
    const bool few = splits_ <= 4;
    const int vectors = few ? 4 : 1;
    for (int i = begin + static_cast<int>(threadIdx.x) % 128; i < end; i += vectors * 128) {
      Quad total[4] = {};
      for (int split = 0; split < splits_; split += 16 / vectors) {
        Quad theirs[4][4] = {};
        RUNG_UNROLL
        for (int p = 0; p < 4; ++p) {
          RUNG_UNROLL
          for (int v = 0; v < 4; ++v) {
            const int from = split + (few ? p : p * 4 + v);
            const int at = i + (few ? v * 128 : 0);
            if (from < splits_ && at < end) theirs[p][v] = first_[from * stride_ + at];
          }
        }
        RUNG_UNROLL
        for (int p = 0; p < 4; ++p) {
          RUNG_UNROLL
          for (int v = 0; v < 4; ++v) total[v] = sum(total[v], theirs[p][v]);
        }
      }
      if (!few) total[0] = sum(sum(total[0], total[1]), sum(total[2], total[3]));
      // Shift the totals, so that the code to store one is compiled once instead of four times.
      RUNG_NO_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (i + v * 128 < end) take_quad(columns, i + v * 128, total[0], take);
        total[0] = total[1];
        total[1] = total[2];
        total[2] = total[3];
      }
    }
  }

  static __device__ __forceinline__ Quad sum(const Quad& a, const Quad& b) {
    return {a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2], a.at[3] + b.at[3]};
  }

  template <class Take>
  static __device__ __forceinline__ void take_quad(int columns, int i, const Quad& sums,
                                                   const Take& take) {
    const int warp = i / 32 / columns;
    const int row = warp * 16 + i % 32 / 4;
    const int col = (i / 32 - warp * columns) * 8 + i % 4 * 2;
    take(row, col, sums.at);
  }

  /// The number of chunks of SIZE that cover an extent, at most `most`.
  template <int SIZE>
  static __device__ __forceinline__ int chunks_of(std::int64_t extent, int most) {
    return extent >= most * SIZE ? most
           : extent <= 0         ? 0
                                 : static_cast<int>(ceil_div(extent, SIZE));
  }

  Semaphore* semaphore_;
  Quad* first_;          // partial sums of split 0
  std::int64_t stride_;  // distance between splits
  int split_, splits_;
};

}  // namespace rung::cuda
