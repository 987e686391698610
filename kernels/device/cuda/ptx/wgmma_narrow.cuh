#pragma once
// wgmma with fewer columns than in wgmma.cuh, for K-major operands of 16 bits.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions

#include <cstdint>

#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/types.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
template <class In>
void wgmma_m64n32k16(float (&d)[4][4], std::uint64_t a, std::uint64_t b);

#else

#define RUNG_WGMMA_N32(type)                                                                      \
  asm volatile(                                                                                   \
      "{\n\t"                                                                                     \
      ".reg .pred adds;\n\t"                                                                      \
      "setp.eq.u32 adds, 0, 0;\n\t"                                                               \
      "wgmma.mma_async.sync.aligned.m64n32k16.f32." type "." type                                 \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, adds, " \
      "1, 1, 0, 0;\n\t"                                                                           \
      "}"                                                                                         \
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]), \
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), \
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3])                                \
      : "l"(a), "l"(b)                                                                            \
      : "memory")

/// wgmma.mma_async.m64n32k16: d += a b, like wgmma_m64() in wgmma.cuh.
template <class In>
__device__ __forceinline__ void wgmma_m64n32k16(float (&d)[4][4], std::uint64_t a,
                                                std::uint64_t b) {
  if constexpr (is_type<In, bfloat16>) {
    RUNG_WGMMA_N32("bf16");
  } else {
    static_assert(is_type<In, float16>);
    RUNG_WGMMA_N32("f16");
  }
}

#undef RUNG_WGMMA_N32

#endif

}  // namespace rung::ptx
