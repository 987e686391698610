#pragma once
// Loads panels of an operand element by element, from any alignment and layout, to shared memory in
// the accumulator type. All loads of a panel are in flight at once.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/factor.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// Loads panels of EXTENT rows by BK k-steps, by THREADS threads.
template <class In, int EXTENT, int BK, int THREADS>
class PanelLoader {
  static constexpr int COUNT = EXTENT * BK / THREADS;
  static_assert(COUNT * THREADS == EXTENT * BK, "each thread loads as many elements");
  static_assert(THREADS % BK == 0, "along k, a thread stays in its step");
  // Along the extent, a thread has every ROW_STEP-th row of every K_STEP-th k-step.
  static constexpr int ROW_STEP = THREADS < EXTENT ? THREADS : EXTENT;
  static constexpr int ROWS = EXTENT / ROW_STEP;
  static constexpr int K_STEP = THREADS / ROW_STEP;

 public:
  /// For panels that begin at e0 in the extent and follow each other along k from k0.
  __device__ __forceinline__ PanelLoader(const Operand<In>& operand, std::int64_t e0,
                                         std::int64_t k0)
      : along_k_(operand.x.col_stride == 1) {
    const int thread = static_cast<int>(threadIdx.x);
    e_ = along_k_ ? thread / BK : thread % ROW_STEP;
    k_ = along_k_ ? thread % BK : thread / ROW_STEP;
    from_ = &operand.x(e0 + e_, k0 + k_);
    stride_ = along_k_ ? operand.x.row_stride : operand.x.col_stride;
    e_left_ = operand.extent - e0 < EXTENT ? static_cast<int>(operand.extent - e0) : EXTENT;
  }

  /// Loads the next panel; zeros after its `steps` k-steps and outside the extent.
  __device__ __forceinline__ void load(std::int64_t steps) {
    if (along_k_) {
      const In* from = from_;
      const std::int64_t next = along_k_row(1) * stride_;
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        elements_[i] = k_ < steps && e_ + along_k_row(i) < e_left_ ? *from : In{};
        from += next;
      }
    } else {
      const In* from = from_;
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const int k = across_k_step(i), e = across_k_row(i);
        elements_[i] = k_ + k < steps && e_ + e < e_left_ ? from[e] : In{};
        if (i % ROWS == ROWS - 1) from += K_STEP * stride_;
      }
    }
    from_ += along_k_ ? BK : BK * stride_;
  }

  /// Writes the panel to shared memory, with K_PITCH elements between k-steps and E_PITCH between
  /// rows.
  template <int K_PITCH, int E_PITCH, class Sum>
  __device__ __forceinline__ void store(Sum* panel) const {
    Sum* const to = panel + k_ * K_PITCH + e_ * E_PITCH;
    if (along_k_) {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) to[along_k_row(i) * E_PITCH] = as_sum<Sum>(elements_[i]);
    } else {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        to[across_k_step(i) * K_PITCH + across_k_row(i) * E_PITCH] = as_sum<Sum>(elements_[i]);
      }
    }
  }

 private:
  /// The position of element i, relative to this thread's first element.
  static constexpr __device__ int along_k_row(int i) { return i * (THREADS / BK); }
  static constexpr __device__ int across_k_row(int i) { return i % ROWS * ROW_STEP; }
  static constexpr __device__ int across_k_step(int i) { return i / ROWS * K_STEP; }

  const In* from_;       // this thread's first element of the next panel
  std::int64_t stride_;  // distance between rows, or between k-steps
  int e_, k_;            // position of the first element in the panel
  int e_left_;
  bool along_k_;
  In elements_[COUNT];
};

}  // namespace rung::cuda
