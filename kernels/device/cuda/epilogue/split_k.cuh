#pragma once
// The split-K reduction: several blocks share a tile of C, and each sums a part of k. Every block
// writes its partial sums to the workspace, waits for the others, and adds up a share of the tile.
// The order of additions is fixed, so results are bitwise reproducible.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Counts the blocks of a tile that have arrived, then those that have left. It is 0 between
/// launches.
struct Semaphore {
  unsigned count;
};

static_assert(max_semaphores * std::int64_t{sizeof(Semaphore)} == semaphores_bytes);

/// The workspace size for a launch with `sums` partial sums of type T.
template <class T>
constexpr std::int64_t sums_bytes(std::int64_t sums) {
  return semaphores_bytes + sums * static_cast<std::int64_t>(sizeof(T));
}

/// The workspace size for a launch with `tiles` tiles of `results` elements of T. At most
/// max_semaphores tiles are split.
template <class T>
constexpr std::int64_t split_bytes(std::int64_t tiles, std::int64_t results,
                                   const GemmConfig& config) {
  if (config.splits == 1) return 0;
  return sums_bytes<T>((tiles - config.whole) * config.splits * results);
}

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
void arrive_and_wait(Semaphore& semaphore, int splits);
template <int THREADS>
void block_arrive_and_wait(Semaphore& semaphore, int splits);

#else

/// Called by one thread of each block. Waits until `splits` blocks have arrived; afterwards, their
/// earlier writes are visible. Surrounding barriers extend this to the other threads. The blocks
/// must be consecutive in the grid: blocks start in order, so waiting blocks never keep the last
/// one from starting.
__device__ __forceinline__ void arrive_and_wait(Semaphore& semaphore, int splits) {
  const auto all = static_cast<unsigned>(splits);
  // The last thread to arrive need not read the counter.
  if (ptx::atom_inc_acq_rel_gpu(&semaphore.count, 2 * all - 1) < all - 1) {
    while (ptx::ld_acquire_gpu(&semaphore.count) < all) {
    }
  }
  // The last thread to leave resets the counter to 0 for the next launch. No thread waits for that.
  ptx::red_inc(&semaphore.count, 2 * all - 1);
}

/// arrive_and_wait() for the first THREADS threads of the block.
template <int THREADS>
__device__ __forceinline__ void block_arrive_and_wait(Semaphore& semaphore, int splits) {
  ptx::bar_sync(0, THREADS);
  if (threadIdx.x == 0) arrive_and_wait(semaphore, splits);
  ptx::bar_sync(0, THREADS);
}

#endif

/// Adds up the partial sums of a tile and stores a share of the results. Each of the block's first
/// THREADS threads has Rows x Cols elements from (row, col).
template <class Rows, class Cols, int THREADS, class T, int TM, int TN>
__device__ __forceinline__ void store_split(const Gemm<T, T>& g, void* workspace,
                                            const BlockWork& work, std::int64_t row,
                                            std::int64_t col, const T (&acc)[TM][TN]) {
  constexpr int W = vector_width<T>;
  constexpr int VECTORS = TM * TN / W;  // per thread
  auto* const bytes = static_cast<unsigned char*>(workspace);
  auto& semaphore = reinterpret_cast<Semaphore*>(bytes)[work.cut_tile];
  auto* const sums = reinterpret_cast<Vector<T, W>*>(bytes + semaphores_bytes) +
                     std::int64_t{work.cut_tile} * work.parts * VECTORS * THREADS + threadIdx.x;

  // Swap adjacent elements in memory. A vector store fixes the registers of its elements; in order,
  // the register of a sum would be in the same bank as the element of B that is multiplied into it.
  RUNG_UNROLL
  for (int v = 0; v < VECTORS; ++v) {
    Vector<T, W> mine;
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) mine.at[w] = acc[v / (TN / W)][v % (TN / W) * W + (w ^ 1)];
    sums[(work.part * VECTORS + v) * THREADS] = mine;
  }

  block_arrive_and_wait<THREADS>(semaphore, work.parts);

  for (int v = work.part; v < VECTORS; v += work.parts) {
    T total[W] = {};
    for (int other = 0; other < work.parts; ++other) {
      const Vector<T, W> theirs = sums[(other * VECTORS + v) * THREADS];
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) total[w ^ 1] += theirs.at[w];
    }
    store_vector(g, row + Rows::offset(v / (TN / W)), col + Cols::offset(v % (TN / W) * W), total);
  }
}

/// The partial sums of a tile in the workspace, for results in shared memory: those of split p
/// begin at p * COUNT.
template <int COUNT, class Sum>
__device__ __forceinline__ Sum* partial_sums(void* workspace, const BlockWork& work) {
  return reinterpret_cast<Sum*>(static_cast<unsigned char*>(workspace) + semaphores_bytes) +
         std::int64_t{work.cut_tile} * work.parts * COUNT;
}

/// Sum i of a tile over all splits, in order.
template <int COUNT, class Sum>
__device__ __forceinline__ Sum add_parts(const Sum* sums, int i, int parts) {
  constexpr int AT_ONCE = 8;  // loads in flight
  Sum total{};
  for (int part = 0; part < parts; part += AT_ONCE) {
    Sum theirs[AT_ONCE];
    RUNG_UNROLL
    for (int p = 0; p < AT_ONCE; ++p) {
      theirs[p] = part + p < parts ? sums[(part + p) * COUNT + i] : Sum{};
    }
    RUNG_UNROLL
    for (int p = 0; p < AT_ONCE; ++p) total += theirs[p];
  }
  return total;
}

/// Split-K reduction for results in shared memory: calls store(i, sum) for a share of `count` sums
/// of a tile. result(i) is this block's part of sum i, and COUNT is the maximum number of sums per
/// tile.
template <int THREADS, int COUNT, class Result, class Store>
__device__ __forceinline__ void share_sums(void* workspace, const BlockWork& work, int count,
                                           const Result& result, const Store& store) {
  using Sum = decltype(result(0));
  auto& semaphore = static_cast<Semaphore*>(workspace)[work.cut_tile];
  Sum* const sums = partial_sums<COUNT, Sum>(workspace, work);
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < count; i += THREADS) sums[work.part * COUNT + i] = result(i);

  block_arrive_and_wait<THREADS>(semaphore, work.parts);

  const int end = count * (work.part + 1) / work.parts;
  for (int i = count * work.part / work.parts + thread; i < end; i += THREADS) {
    store(i, add_parts<COUNT>(sums, i, work.parts));
  }
}

/// Calls store(i, sum) for each sum of a tile: immediately if it is not split, otherwise in the
/// last of its blocks to arrive. No block waits. For a small tile, one block adds up the sums as
/// fast as all blocks together.
template <int THREADS, int COUNT, class Result, class Store>
__device__ __forceinline__ void store_by_last(void* workspace, const BlockWork& work, int count,
                                              const Result& result, const Store& store) {
  using Sum = decltype(result(0));
  const int thread = static_cast<int>(threadIdx.x);
  if (work.is_whole()) {
    for (int i = thread; i < count; i += THREADS) store(i, result(i));
    return;
  }
  Sum* const sums = partial_sums<COUNT, Sum>(workspace, work);
  for (int i = thread; i < count; i += THREADS) sums[work.part * COUNT + i] = result(i);

  // sync: the sums of all threads are written before the block arrives
  __syncthreads();
  __shared__ bool is_last;
  if (thread == 0) {
    Semaphore& semaphore = static_cast<Semaphore*>(workspace)[work.cut_tile];
    const auto others = static_cast<unsigned>(work.parts) - 1;
    is_last = ptx::atom_inc_acq_rel_gpu(&semaphore.count, others) == others;
  }
  // sync: is_last is visible to all threads
  __syncthreads();
  if (!is_last) return;
  for (int i = thread; i < count; i += THREADS) {
    store(i, add_parts<COUNT>(sums, i, work.parts));
  }
}

/// Stores a block's results, or its share of them. The warp tiles begin at (warp_row, warp_col) of
/// C, and lanes, LANES_M of them along rows, are at (lane_row, lane_col). staging() waits until
/// shared memory is free and returns memory for LANES_M * WN elements of this warp.
template <class Rows, class Cols, int THREADS, int LANES_M, int WN, class T, int TM, int TN,
          class Staging>
__device__ __forceinline__ void store_or_split(const Gemm<T, T>& g, void* workspace,
                                               const BlockWork& work, std::int64_t warp_row,
                                               std::int64_t warp_col, int lane_row, int lane_col,
                                               const T (&acc)[TM][TN], const Staging& staging) {
  const std::int64_t row = warp_row + Rows::first(lane_row);
  const std::int64_t col = warp_col + Cols::first(lane_col);
  if (!work.is_whole()) {
    store_split<Rows, Cols, THREADS>(g, workspace, work, row, col, acc);
  } else if (has_aligned_rows(g)) {
    store_tile<Rows, Cols>(g, row, col, acc);
  } else {
    store_by_rows<Rows, Cols, LANES_M, WN>(g, warp_row, warp_col, lane_row, lane_col, acc,
                                           staging());
  }
}

}  // namespace rung::cuda
