#pragma once
// Reads an operand's tile, as written by TMA, for multiplication with FMAs: rows of 128 bytes with
// 128-byte swizzle (tile/swizzled_tile.cuh), which keeps the reads free of bank conflicts.

#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// COUNT rows or columns for each of LANES threads, from a tile of float. In a K-major tile, a row
/// of 128 bytes has 32 k-steps of one row or column. Otherwise it has 32 rows or columns of one
/// k-step, and the next 32 follow after 32 such rows.
template <int COUNT, int LANES, bool K_MAJOR>
struct SwizzledFragment {
  /// Adjacent elements per thread. In a K-major tile, lanes read adjacent rows, which begin in
  /// different banks.
  static constexpr int W = K_MAJOR ? 1 : COUNT % 4 == 0 ? 4 : 2;
  static constexpr int STEPS = 4;  // steps per load(): a vector of a K-major tile
  using Places = Fragment<COUNT, LANES, W>;
  static_assert(K_MAJOR || COUNT % 2 == 0);

  /// Loads four k-steps from k, a multiple of 4, for thread `lane`.
  static __device__ __forceinline__ void load(float (&to)[STEPS][COUNT], const float* tile,
                                              int lane, int k) {
    RUNG_UNROLL
    for (int i = 0; i < COUNT; i += W) {
      const int e = Places::first(lane) + Places::offset(i);
      if constexpr (K_MAJOR) {
        // If LANES is a multiple of 8, the swizzle is the same for all rows of a thread.
        const int swizzle = (LANES % 8 == 0 ? lane : e) % 8;
        const auto steps = *reinterpret_cast<const Vector<float, STEPS>*>(
            tile + e * 32 + (k / STEPS ^ swizzle) * STEPS);
        RUNG_UNROLL
        for (int s = 0; s < STEPS; ++s) to[s][i] = steps.at[s];
      } else {
        RUNG_UNROLL
        for (int s = 0; s < STEPS; ++s) {
          const int row = e / 32 * 32 + k + s;
          const int chunk = e % 32 / 4 ^ (k + s) % 8;
          const auto some =
              *reinterpret_cast<const Vector<float, W>*>(tile + row * 32 + chunk * 4 + e % 4);
          RUNG_UNROLL
          for (int w = 0; w < W; ++w) to[s][i + w] = some.at[w];
        }
      }
    }
  }
};

}  // namespace rung::cuda
