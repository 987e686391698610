#pragma once
// Which rows and columns of a tile a thread computes, where its results are not one block but
// pieces of W x W, so that neighbouring threads read neighbouring vectors of shared memory.

#include "device/cuda/keywords.cuh"
#include "device/cuda/vector.cuh"

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

}  // namespace rung::cuda
