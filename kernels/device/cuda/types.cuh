#pragma once
// The element types of rung/types.hpp in device code, with the same representation, and vectors of
// them. The GPU converts 16-bit elements itself; narrower types are only for tensor cores.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"

#ifdef RUNG_HOST

#include "rung/storage_types.hpp"

#else

namespace rung {

// No member initializers: shared memory cannot hold types with constructors.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  __device__ explicit bfloat16(float value) : bits(ptx::cvt_rn_bf16_f32(value)) {}
  __device__ explicit operator float() const { return ptx::mov_f32_b32(std::uint32_t{bits} << 16); }
};

struct float16 {
  std::uint16_t bits;

  float16() = default;
  __device__ explicit float16(float value) : bits(ptx::cvt_rn_f16_f32(value)) {}
  __device__ explicit operator float() const { return ptx::cvt_f32_f16(bits); }
};

struct tfloat32 {
  float value;
};
struct float8_e4m3 {
  std::uint8_t bits;
};
struct float8_e5m2 {
  std::uint8_t bits;
};

}  // namespace rung

#endif

namespace rung::cuda {

/// Adjacent elements as one access; a thread loads or stores at most 16 bytes at a time.
template <class T, int N>
struct alignas(N * sizeof(T)) Vector {
  T at[N];
};

/// The number of elements of T in a 16-byte vector.
template <class T>
inline constexpr int vector_width = 16 / sizeof(T);

/// Loads N contiguous elements in 16-byte vectors; `from` must be aligned to 16 bytes.
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
