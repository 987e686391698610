#pragma once
// Block scales of a tile's rows and columns, for several k-blocks at a time: some warps copy them
// to shared memory from any layout.

#include <cstdint>

#include "core/block_scales.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"

namespace rung::cuda {

/// Scales in shared memory: for each of BLOCKS k-blocks, the scale of each of BM rows and of each
/// 64 of BN columns.
template <int BM, int BN>
struct TileScales {
  static constexpr int BLOCKS = 4;  // 16 bytes of a row of scales, if contiguous along k
  static constexpr int COLS = BN / 64;
  alignas(16) float rows[BM][BLOCKS];
  float cols[COLS][BLOCKS];

  __device__ __forceinline__ float of_row(int row, int block) const { return rows[row][block]; }
  /// The scale of columns [64 part, 64 part + 64).
  __device__ __forceinline__ float of_cols(int part, int block) const { return cols[part][block]; }
};

/// Copies the scales of a tile by THREADS threads, BLOCKS k-blocks at a time, starting with the
/// tile's first k-block. If a row's scales are contiguous and aligned, they take one copy of 16
/// bytes. With copies of 4 bytes from different lines, a k-block of 128 rows takes longer than its
/// multiplication.
template <int BM, int BN, int THREADS>
class ScaleLoader {
  using Scales = TileScales<BM, BN>;
  static constexpr int BLOCKS = Scales::BLOCKS;
  static constexpr int EACH = (BM + THREADS - 1) / THREADS;  // rows per thread
  static_assert(Scales::COLS * BLOCKS <= THREADS);

 public:
  /// `a` is the scale of the tile's first row, `b` that of column 0 of its matrix. There are scales
  /// for `rows` rows, for columns up to `cols`, and for `blocks` k-blocks.
  __device__ __forceinline__ ScaleLoader(const BlockScales& scales, int thread, const float* a,
                                         int rows, const float* b, int first_col, std::int64_t cols,
                                         int blocks)
      : thread_(thread),
        rows_(rows),
        left_(blocks),
        null_(scales.a),
        a_(a + thread * scales.a_row),
        a_apart_(THREADS * scales.a_row),
        a_step_(scales.a_step) {
    has_vectors_ = scales.a_step == 1 && scales.a_row % BLOCKS == 0 &&
                   reinterpret_cast<std::uintptr_t>(scales.a) % 16 == 0;
    const int col = first_col + thread / BLOCKS * 64;
    has_cols_ = thread < Scales::COLS * BLOCKS && col < cols;
    b_ = b + col / BlockScales::cols * scales.b_col + thread % BLOCKS * scales.b_step;
    b_step_ = BLOCKS * scales.b_step;
  }

  /// Starts to copy the scales of the next k-blocks; zeros for missing ones. Without scales, all
  /// are 1.
  __device__ __forceinline__ void copy_next(Scales& to) {
    RUNG_UNROLL
    for (int e = 0; e < EACH; ++e) {
      const int row = thread_ + e * THREADS;
      if (row < BM) copy_row(to.rows[row], a_ + e * a_apart_, row < rows_);
    }
    if (thread_ < Scales::COLS * BLOCKS) {
      copy(to.cols[thread_ / BLOCKS][thread_ % BLOCKS], b_, has_cols_ && thread_ % BLOCKS < left_);
    }
    a_ += BLOCKS * a_step_;
    b_ += b_step_;
    left_ -= BLOCKS;
  }

 private:
  __device__ __forceinline__ void copy_row(float (&to)[BLOCKS], const float* from,
                                           bool exists) const {
    if (has_vectors_) {
      const int count = !exists ? 0 : left_ < BLOCKS ? left_ : BLOCKS;
      ptx::cp_async<16>(ptx::cvta_to_shared(to), count > 0 ? from : null_, count * 4);
      return;
    }
    RUNG_UNROLL
    for (int block = 0; block < BLOCKS; ++block) {
      copy(to[block], from + block * a_step_, exists && block < left_);
    }
  }
  __device__ __forceinline__ void copy(float& to, const float* from, bool exists) const {
    if (null_ == nullptr) {
      to = 1;
    } else {
      ptx::cp_async<4>(ptx::cvta_to_shared(&to), exists ? from : null_, exists ? 4 : 0);
    }
  }

  int thread_;
  int rows_, left_;    // rows of the tile; k-blocks left to copy
  const float* null_;  // address for copies of 0 bytes
  const float* a_;
  std::int64_t a_apart_, a_step_;
  bool has_vectors_, has_cols_;
  const float* b_;
  std::int64_t b_step_;
};

}  // namespace rung::cuda
