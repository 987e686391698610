#pragma once
// Several neighbouring elements as one access: 16 bytes are the widest that a thread can ask for.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

template <class T, int N>
struct alignas(N * sizeof(T)) Vector {
  T at[N];
};

/// How many elements of T one access takes at most.
template <class T>
inline constexpr int vector_width = 16 / sizeof(T);

/// N elements that lie together, as accesses of 16 bytes; `from` must be aligned to as much.
template <class T, int N>
__device__ __forceinline__ void load_vectors(T (&to)[N], const T* from) {
  constexpr int W = vector_width<T>;
  static_assert(N % W == 0);
  RUNG_UNROLL
  for (int i = 0; i < N; i += W) {
    const auto vector = *reinterpret_cast<const Vector<T, W>*>(from + i);
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) to[i + w] = vector.at[w];
  }
}

}  // namespace rung::cuda
