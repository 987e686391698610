#pragma once
// The scales of a tile's rows and columns for a block of k: some warps copy them to shared memory,
// in whichever layout the caller has them.

#include <cstdint>

#include "core/block_scales.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"

namespace rung::cuda {

/// In shared memory: of each of BM rows, and of each 64 of BN columns.
template <int BM, int BN>
struct TileScales {
  static constexpr int COUNT = BM + BN / 64;
  float at[COUNT];

  __device__ __forceinline__ float of_row(int row) const { return at[row]; }
  __device__ __forceinline__ float of_cols(int col) const { return at[BM + col / 64]; }
};

/// One of THREADS threads that copy the scales of a tile, block after block: where its own ones are,
/// from the tile's first block on. Addresses take longer to compute than a copy to start.
template <int BM, int BN, int THREADS>
class ScaleLoader {
  using Scales = TileScales<BM, BN>;
  static constexpr int EACH = (Scales::COUNT + THREADS - 1) / THREADS;

 public:
  /// `a` is the scale of the tile's first row, `b` that of its matrix's column 0. There are scales of
  /// `rows` rows, and of columns up to `cols`.
  __device__ __forceinline__ ScaleLoader(const BlockScales& scales, int thread, const float* a,
                                         int rows, const float* b, int first_col, std::int64_t cols)
      : thread_(thread), null_(scales.a) {
    RUNG_UNROLL
    for (int e = 0; e < EACH; ++e) {
      const int i = thread + e * THREADS;
      const int col = first_col + (i - BM) * 64;
      bytes_[e] = (i < BM ? i < rows : col < cols) ? 4 : 0;
      from_[e] = i < BM ? a + i * scales.a_row : b + col / BlockScales::cols * scales.b_col;
      step_[e] = i < BM ? scales.a_step : scales.b_step;
    }
  }

  /// Starts to copy those of the next block; zeros where there are none. Without scales, all are 1.
  __device__ __forceinline__ void copy_next(Scales& to) {
    RUNG_UNROLL
    for (int e = 0; e < EACH; ++e) {
      const int i = thread_ + e * THREADS;
      if (i >= Scales::COUNT) continue;
      if (null_ == nullptr) {
        to.at[i] = 1;
      } else {
        ptx::cp_async<4>(ptx::cvta_to_shared(&to.at[i]), bytes_[e] == 0 ? null_ : from_[e],
                         bytes_[e]);
        from_[e] += step_[e];
      }
    }
  }

 private:
  int thread_;
  const float* null_;  // an address for copies of no bytes
  const float* from_[EACH];
  std::int64_t step_[EACH];
  int bytes_[EACH];
};

}  // namespace rung::cuda
