#pragma once
// Which rows and columns of a tile a thread computes, where its results are not one block but
// pieces of W x W, so that neighbouring threads read neighbouring vectors of shared memory.

#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// T indices of one direction: W neighbours, then W more after a stride of LANES * W, and so on,
/// for LANES threads side by side.
template <int T, int LANES, int W>
struct Fragment {
  static_assert(T % W == 0);
  static constexpr int stride = LANES * W;

  /// The first index of this thread's pieces, where it is number `lane` of LANES.
  static constexpr __device__ int first(int lane) { return lane * W; }
  /// How far the i-th index is from the first one.
  static constexpr __device__ int offset(int i) { return i / W * stride + i % W; }

  /// One element for each index, from the shared memory where the first one's lies.
  template <class Out>
  static __device__ __forceinline__ void load(Out (&to)[T], const Out* first) {
    RUNG_UNROLL
    for (int i = 0; i < T; i += W) {
      const auto vector = *reinterpret_cast<const Vector<Out, W>*>(first + offset(i));
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) to[i + w] = vector.at[w];
    }
  }
};

/// acc += a b^T. Rows of acc go there and back, so that each multiply-add shares an operand with
/// the one before it: a register file has too few ports for three new ones each cycle.
template <class Out, int TM, int TN>
__device__ __forceinline__ void add_outer_product(Out (&acc)[TM][TN], const Out (&a)[TM],
                                                  const Out (&b)[TN]) {
  RUNG_UNROLL
  for (int i = 0; i < TM; ++i) {
    RUNG_UNROLL
    for (int there = 0; there < TN; ++there) {
      const int j = i % 2 == 0 ? there : TN - 1 - there;
      acc[i][j] += a[i] * b[j];
    }
  }
}

}  // namespace rung::cuda
