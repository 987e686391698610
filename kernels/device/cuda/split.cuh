#pragma once
// Several blocks that share a tile of C, each with a part of k, and how their sums become one:
// every block writes its own to memory, waits for the others, and adds up a share of the tile. The
// order of that sum is fixed, so the result has the same bits every time.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/launch.hpp"
#include "device/cuda/ptx.cuh"
#include "device/cuda/store.cuh"
#include "device/cuda/vector.cuh"

namespace rung::cuda {

/// Counters of one tile. Both are 0 between launches.
struct Meeting {
  unsigned arrived, left;
};

/// Of a workspace, whatever the launch, so that no sum ever lies where a later launch counts.
inline constexpr std::int64_t most_meetings = 8192;
inline constexpr std::int64_t meetings_bytes = most_meetings * sizeof(Meeting);

/// What a launch needs whose blocks share so many sums of T.
template <class T>
constexpr std::int64_t sums_bytes(std::int64_t sums) {
  return meetings_bytes + sums * static_cast<std::int64_t>(sizeof(T));
}

/// What a launch of `tiles` tiles of `results` elements of T, each in `splits` parts, needs; at
/// most most_meetings of them can be in more than one.
template <class T>
constexpr std::int64_t split_bytes(std::int64_t tiles, std::int64_t results, int splits) {
  if (splits == 1) return 0;
  return sums_bytes<T>(tiles * splits * results);
}

#ifdef RUNG_HOST

// Declared for kernel templates to name.
void meet_alone(Meeting& meeting, int parts);
void meet(Meeting& meeting, int parts);

#else

/// By one thread, between barriers of those that it is for: waits until `parts` threads have come
/// here, and shows each what the others' wrote before. Their blocks must be neighbours in the grid:
/// blocks start in order, so those that wait leave room for the last one.
__device__ __forceinline__ void meet_alone(Meeting& meeting, int parts) {
  ptx::atom_add_acq_rel_gpu(&meeting.arrived, 1);
  while (ptx::ld_acquire_gpu(&meeting.arrived) != static_cast<unsigned>(parts)) {
  }
  // The last one to leave makes it as it was, for the next launch.
  if (ptx::atom_add_acq_rel_gpu(&meeting.left, 1) == static_cast<unsigned>(parts) - 1) {
    meeting.arrived = 0;
    meeting.left = 0;
  }
}

/// The same by the whole block.
__device__ __forceinline__ void meet(Meeting& meeting, int parts) {
  __syncthreads();
  if (threadIdx.x == 0) meet_alone(meeting, parts);
  __syncthreads();
}

#endif

/// Part `part` of tile `tile`, one of `tiles`: adds the sums of all parts, and stores a share of
/// the results. Those of a thread are Rows x Cols from (row, col) on.
template <class Rows, class Cols, int THREADS, class T, int TM, int TN>
__device__ __forceinline__ void store_split(const Gemm<T, T>& g, const Split& split, unsigned tile,
                                            int part, std::int64_t row, std::int64_t col,
                                            const T (&acc)[TM][TN]) {
  constexpr int W = vector_width<T>;
  constexpr int VECTORS = TM * TN / W;  // of a thread
  auto* const bytes = static_cast<unsigned char*>(split.workspace);
  auto& meeting = reinterpret_cast<Meeting*>(bytes)[tile];
  auto* const sums = reinterpret_cast<Vector<T, W>*>(bytes + meetings_bytes) +
                     std::int64_t{tile} * split.splits * VECTORS * THREADS + threadIdx.x;

  // Neighbours change places in memory. A vector fixes the registers of what it stores; in order, a
  // sum's would be in the same bank as the element of B that it is summed from.
  RUNG_UNROLL
  for (int v = 0; v < VECTORS; ++v) {
    Vector<T, W> mine;
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) mine.at[w] = acc[v / (TN / W)][v % (TN / W) * W + (w ^ 1)];
    sums[(part * VECTORS + v) * THREADS] = mine;
  }

  meet(meeting, split.splits);

  for (int v = part; v < VECTORS; v += split.splits) {
    T total[W] = {};
    for (int other = 0; other < split.splits; ++other) {
      const Vector<T, W> theirs = sums[(other * VECTORS + v) * THREADS];
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) total[w ^ 1] += theirs.at[w];
    }
    store_vector(g, row + Rows::offset(v / (TN / W)), col + Cols::offset(v % (TN / W) * W), total);
  }
}

}  // namespace rung::cuda
