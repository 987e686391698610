#pragma once
// wgmma with the first factor in registers: elements that a kernel makes on the way, as those of
// packed weights. From sm_90a.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions-wgmma-mma

#include <cstdint>

#include "device/cuda/ptx/wgmma.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Declared for kernel templates to name, defined nowhere.
template <class In>
void wgmma_m64n128k16(float (&d)[16][4], const std::uint32_t (&a)[4], std::uint64_t b, bool adds);
template <int COUNT>
void pin_fragments(std::uint32_t (&a)[COUNT][4]);

#else

#define RUNG_WGMMA_SUM(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define RUNG_WGMMA_SUMS(j) \
  RUNG_WGMMA_SUM(j), RUNG_WGMMA_SUM(j + 1), RUNG_WGMMA_SUM(j + 2), RUNG_WGMMA_SUM(j + 3)
#define RUNG_WGMMA_FROM_REGISTERS(type)                                                   \
  asm volatile(                                                                           \
      "{\n\t"                                                                             \
      ".reg .pred adds;\n\t"                                                              \
      "setp.ne.b32 adds, %69, 0;\n\t"                                                     \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type                        \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, " \
      "{%64, %65, %66, %67}, %68, adds, 1, 1, 0;\n\t"                                     \
      "}"                                                                                 \
      : RUNG_WGMMA_SUMS(0), RUNG_WGMMA_SUMS(4), RUNG_WGMMA_SUMS(8), RUNG_WGMMA_SUMS(12)   \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds ? 1 : 0)             \
      : "memory")

/// wgmma.mma_async.m64n128k16: d += a b, or d = a b. A warp has 16 rows of a, as mma.m16n8k16 has
/// them; `b` describes 128 columns of 16 steps in shared memory, K-major. Until wgmma_wait_group(), d
/// is not there, and a may not change: see pin_fragments().
template <class In>
__device__ __forceinline__ void wgmma_m64n128k16(float (&d)[16][4], const std::uint32_t (&a)[4],
                                                 std::uint64_t b, bool adds) {
  if constexpr (is_type<In, bfloat16>) {
    RUNG_WGMMA_FROM_REGISTERS("bf16");
  } else {
    RUNG_WGMMA_FROM_REGISTERS("f16");
  }
}

/// No compiler may move what writes or reads these registers across this place.
template <int COUNT>
__device__ __forceinline__ void pin_fragments(std::uint32_t (&a)[COUNT][4]) {
  RUNG_UNROLL
  for (int i = 0; i < COUNT; ++i) {
    asm volatile("" : "+r"(a[i][0]), "+r"(a[i][1]), "+r"(a[i][2]), "+r"(a[i][3])::"memory");
  }
}

#undef RUNG_WGMMA_SUM
#undef RUNG_WGMMA_SUMS
#undef RUNG_WGMMA_FROM_REGISTERS

#endif

}  // namespace rung::ptx
