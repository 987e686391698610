#pragma once
// The reduction of split-K: several blocks share a tile of C, and each sums a part of k. Every
// block writes its partial sums to the workspace, waits for the others, and adds up a share of the
// tile. It adds in a fixed order, so the result has the same bits every time.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Counts the blocks of one tile. Both counters are 0 between launches.
struct Semaphore {
  unsigned arrived, left;
};

static_assert(max_semaphores * std::int64_t{sizeof(Semaphore)} == semaphores_bytes);

/// The workspace of a launch with so many partial sums of T.
template <class T>
constexpr std::int64_t sums_bytes(std::int64_t sums) {
  return semaphores_bytes + sums * static_cast<std::int64_t>(sizeof(T));
}

/// The workspace of a launch of `tiles` tiles of `results` elements of T, each in `splits` parts.
/// If there are several parts, there are at most max_semaphores tiles.
template <class T>
constexpr std::int64_t split_bytes(std::int64_t tiles, std::int64_t results, int splits) {
  if (splits == 1) return 0;
  return sums_bytes<T>(tiles * splits * results);
}

#ifdef RUNG_HOST

// Kernel templates name these; the host never calls them.
void arrive_and_wait(Semaphore& semaphore, int splits);
template <int THREADS>
void block_arrive_and_wait(Semaphore& semaphore, int splits);

#else

/// One thread of each block waits until `splits` threads have arrived, and then sees what their
/// blocks wrote before; barriers before and after it include the other threads. The blocks must be
/// neighbours in the grid: blocks start in order, so those that wait leave room for the last one.
__device__ __forceinline__ void arrive_and_wait(Semaphore& semaphore, int splits) {
  ptx::atom_add_acq_rel_gpu(&semaphore.arrived, 1);
  while (ptx::ld_acquire_gpu(&semaphore.arrived) != static_cast<unsigned>(splits)) {
  }
  // The last one to leave resets the semaphore for the next launch.
  if (ptx::atom_add_acq_rel_gpu(&semaphore.left, 1) == static_cast<unsigned>(splits) - 1) {
    semaphore.arrived = 0;
    semaphore.left = 0;
  }
}

/// The same for the first THREADS threads of the block.
template <int THREADS>
__device__ __forceinline__ void block_arrive_and_wait(Semaphore& semaphore, int splits) {
  ptx::bar_sync(0, THREADS);
  if (threadIdx.x == 0) arrive_and_wait(semaphore, splits);
  ptx::bar_sync(0, THREADS);
}

#endif

/// Adds up the partial sums of a tile, and stores a share of the results. This block has part
/// `part` of k; each of its first THREADS threads has Rows x Cols elements from (row, col) on.
template <class Rows, class Cols, int THREADS, class T, int TM, int TN>
__device__ __forceinline__ void store_split(const Gemm<T, T>& g, const SplitK& split_k,
                                            unsigned tile, int part, std::int64_t row,
                                            std::int64_t col, const T (&acc)[TM][TN]) {
  constexpr int W = vector_width<T>;
  constexpr int VECTORS = TM * TN / W;  // of a thread
  auto* const bytes = static_cast<unsigned char*>(split_k.workspace);
  auto& semaphore = reinterpret_cast<Semaphore*>(bytes)[tile];
  auto* const sums = reinterpret_cast<Vector<T, W>*>(bytes + semaphores_bytes) +
                     std::int64_t{tile} * split_k.splits * VECTORS * THREADS + threadIdx.x;

  // Neighbours swap their places in memory. A vector fixes the registers of what it stores; in
  // order, a sum's register would be in the same bank as the element of B that goes into the sum.
  RUNG_UNROLL
  for (int v = 0; v < VECTORS; ++v) {
    Vector<T, W> mine;
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) mine.at[w] = acc[v / (TN / W)][v % (TN / W) * W + (w ^ 1)];
    sums[(part * VECTORS + v) * THREADS] = mine;
  }

  block_arrive_and_wait<THREADS>(semaphore, split_k.splits);

  for (int v = part; v < VECTORS; v += split_k.splits) {
    T total[W] = {};
    for (int other = 0; other < split_k.splits; ++other) {
      const Vector<T, W> theirs = sums[(other * VECTORS + v) * THREADS];
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) total[w ^ 1] += theirs.at[w];
    }
    store_vector(g, row + Rows::offset(v / (TN / W)), col + Cols::offset(v % (TN / W) * W), total);
  }
}

}  // namespace rung::cuda
