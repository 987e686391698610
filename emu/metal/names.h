#pragma once
// The names of simd.h, which host programs share with kernels.

#define RUNG_METAL_SIMD_NAME(T, N)          \
  using vector_##T##N = T##N;               \
  using simd_##T##N = T##N;                 \
  using simd_packed_##T##N = packed_##T##N; \
  namespace simd {                          \
  using ::T##N;                             \
  using packed_##T##N = ::packed_##T##N;    \
  }
#define RUNG_METAL_SIMD_NAMES(T) \
  RUNG_METAL_SIMD_NAME(T, 2) RUNG_METAL_SIMD_NAME(T, 3) RUNG_METAL_SIMD_NAME(T, 4)
RUNG_METAL_FOR_EACH_SCALAR(RUNG_METAL_SIMD_NAMES)
#undef RUNG_METAL_SIMD_NAMES
#undef RUNG_METAL_SIMD_NAME

#define RUNG_METAL_SIMD_MATRIX(T, C, R)   \
  using matrix_##T##C##x##R = T##C##x##R; \
  using simd_##T##C##x##R = T##C##x##R;   \
  namespace simd {                        \
  using ::T##C##x##R;                     \
  }
// clang-format off: it does not come to rest on macros that follow each other.
#define RUNG_METAL_SIMD_MATRICES(T) \
  RUNG_METAL_SIMD_MATRIX(T, 2, 2) RUNG_METAL_SIMD_MATRIX(T, 2, 3) RUNG_METAL_SIMD_MATRIX(T, 2, 4) \
  RUNG_METAL_SIMD_MATRIX(T, 3, 2) RUNG_METAL_SIMD_MATRIX(T, 3, 3) RUNG_METAL_SIMD_MATRIX(T, 3, 4) \
  RUNG_METAL_SIMD_MATRIX(T, 4, 2) RUNG_METAL_SIMD_MATRIX(T, 4, 3) RUNG_METAL_SIMD_MATRIX(T, 4, 4)
// clang-format on
RUNG_METAL_SIMD_MATRICES(float)
RUNG_METAL_SIMD_MATRICES(half)
#undef RUNG_METAL_SIMD_MATRICES
#undef RUNG_METAL_SIMD_MATRIX

namespace simd {
using metal::abs;
using metal::all;
using metal::any;
using metal::clamp;
using metal::cross;
using metal::distance;
using metal::dot;
using metal::length;
using metal::max;
using metal::min;
using metal::mix;
using metal::normalize;
}  // namespace simd
