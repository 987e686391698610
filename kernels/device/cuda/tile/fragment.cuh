#pragma once
// The rows and columns of a tile that a thread computes if its results are pieces of W x W instead
// of one block, so that adjacent threads read adjacent vectors of shared memory.

#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// T indices in one direction for LANES threads: W adjacent ones, then W more after a stride of
/// LANES * W, and so on.
template <int T, int LANES, int W>
struct Fragment {
  static_assert(T % W == 0);
  static constexpr int stride = LANES * W;

  /// The first index of thread `lane` of LANES.
  static constexpr __device__ int first(int lane) { return lane * W; }
  /// The distance of index i from the first one.
  static constexpr __device__ int offset(int i) { return i / W * stride + i % W; }

  /// Loads one element for each index from shared memory, given the address of the first one.
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

/// acc += a b^T. Traverses rows of acc in alternating directions, so that each FMA shares an
/// operand with the previous one: a register file has too few ports for three new operands per
/// cycle.
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
