#pragma once
// What a thread that multiplies by FMAs reads of an operand's tile as TMA writes it: rows of 128 bytes
// with the 128-byte swizzle (tile/swizzled_tile.cuh), which keeps these reads free of bank conflicts.

#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// COUNT rows or columns of each of LANES threads, of a tile of float. If the tile is K-major, a row of
/// 128 bytes has 32 steps of one row or column, else 32 rows or columns of one step, and the next 32
/// follow after 32 such rows.
template <int COUNT, int LANES, bool K_MAJOR>
struct SwizzledFragment {
  /// Neighbours of a thread. Lanes read neighbouring rows of a K-major tile, which begin in different banks.
  static constexpr int W = K_MAJOR ? 1 : COUNT % 4 == 0 ? 4 : 2;
  static constexpr int STEPS = 4;  // that load() loads: a vector of a K-major tile
  using Places = Fragment<COUNT, LANES, W>;
  static_assert(K_MAJOR || COUNT % 2 == 0);

  /// Four steps from k on, a multiple of 4, for thread `lane`.
  static __device__ __forceinline__ void load(float (&to)[STEPS][COUNT], const float* tile,
                                              int lane, int k) {
    RUNG_UNROLL
    for (int i = 0; i < COUNT; i += W) {
      const int e = Places::first(lane) + Places::offset(i);
      if constexpr (K_MAJOR) {
        // With LANES a multiple of 8, all of a thread's rows are swizzled alike.
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
