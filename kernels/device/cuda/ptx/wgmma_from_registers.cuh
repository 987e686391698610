#pragma once
// wgmma with the first operand in registers, for elements that a kernel computes, such as unpacked
// weights. Requires sm_90a.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions-wgmma-mma

#include <cstdint>

#include "device/cuda/ptx/wgmma.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
template <class In, int J>
void wgmma_m64k16(float (&d)[J][4], const std::uint32_t (&a)[4], std::uint64_t b, bool adds);
template <int COUNT>
void pin_fragments(std::uint32_t (&a)[COUNT][4]);
void wgmma_fence();
template <int N>
void wgmma_wait_group();

#else

// For each N: the sums as operands and as registers, followed by the operands for the registers of
// a, the descriptor of b, and the scale-d predicate.
#define RUNG_SUM(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define RUNG_SUMS_16(j) RUNG_SUM(j), RUNG_SUM(j + 1)
#define RUNG_SUMS_32(j) RUNG_SUMS_16(j), RUNG_SUMS_16(j + 2)
#define RUNG_SUMS_64(j) RUNG_SUMS_32(j), RUNG_SUMS_32(j + 4)
#define RUNG_SUMS_128(j) RUNG_SUMS_64(j), RUNG_SUMS_64(j + 8)
#define RUNG_SUMS_256(j) RUNG_SUMS_128(j), RUNG_SUMS_128(j + 16)
#define RUNG_REGISTERS_16 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define RUNG_FACTORS_16 "{%8, %9, %10, %11}, %12"
#define RUNG_ADDS_16 "%13"
#define RUNG_REGISTERS_64                                                   \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define RUNG_FACTORS_64 "{%32, %33, %34, %35}, %36"
#define RUNG_ADDS_64 "%37"
#define RUNG_REGISTERS_128                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define RUNG_FACTORS_128 "{%64, %65, %66, %67}, %68"
#define RUNG_ADDS_128 "%69"
#define RUNG_REGISTERS_256                                                                       \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                      \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "   \
  "%127}"
#define RUNG_FACTORS_256 "{%128, %129, %130, %131}, %132"
#define RUNG_ADDS_256 "%133"

#define RUNG_WGMMA(N, type)                                                                  \
  asm volatile(                                                                              \
      "{\n\t"                                                                                \
      ".reg .pred adds;\n\t"                                                                 \
      "setp.ne.b32 adds, " RUNG_ADDS_##N                                                     \
      ", 0;\n\t"                                                                             \
      "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type " " RUNG_REGISTERS_##N \
      ", " RUNG_FACTORS_##N                                                                  \
      ", adds, 1, 1, 0;\n\t"                                                                 \
      "}"                                                                                    \
      : RUNG_SUMS_##N(0)                                                                     \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds ? 1 : 0)                \
      : "memory")
#define RUNG_WGMMA_OF_IN(N)              \
  if constexpr (is_type<In, bfloat16>) { \
    RUNG_WGMMA(N, "bf16");               \
  } else {                               \
    RUNG_WGMMA(N, "f16");                \
  }

/// wgmma.mma_async.m64nNk16 with N = 8 J: d += a b, or d = a b if not `adds`. A warp holds 16 rows
/// of a, in the layout of mma.m16n8k16; `b` describes N columns of 16 k-steps in shared memory,
/// K-major. Until wgmma_wait_group(), d is not valid and a must not change: see pin_fragments().
template <class In, int J>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[J][4], const std::uint32_t (&a)[4],
                                             std::uint64_t b, bool adds) {
  static_assert(J == 2 || J == 8 || J == 16 || J == 32);
  if constexpr (J == 2) {
    RUNG_WGMMA_OF_IN(16);
  } else if constexpr (J == 8) {
    RUNG_WGMMA_OF_IN(64);
  } else if constexpr (J == 16) {
    RUNG_WGMMA_OF_IN(128);
  } else {
    RUNG_WGMMA_OF_IN(256);
  }
}

/// A compiler barrier for these registers: no access to them moves across it.
template <int COUNT>
__device__ __forceinline__ void pin_fragments(std::uint32_t (&a)[COUNT][4]) {
  RUNG_UNROLL
  for (int i = 0; i < COUNT; ++i) {
    asm volatile("" : "+r"(a[i][0]), "+r"(a[i][1]), "+r"(a[i][2]), "+r"(a[i][3])::"memory");
  }
}

/// wgmma.fence: orders this warp's writes of fragments and sums before the following wgmma
/// instructions.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// wgmma.wait_group: waits until at most N groups are in flight. Protects only fragments; sums may
/// still be in flight.
template <int N>
__device__ __forceinline__ void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

#undef RUNG_SUM
#undef RUNG_WGMMA
#undef RUNG_WGMMA_OF_IN
#undef RUNG_SUMS_32
#undef RUNG_SUMS_16
#undef RUNG_REGISTERS_16
#undef RUNG_FACTORS_16
#undef RUNG_ADDS_16
#undef RUNG_SUMS_64
#undef RUNG_REGISTERS_64
#undef RUNG_FACTORS_64
#undef RUNG_ADDS_64
#undef RUNG_SUMS_128
#undef RUNG_REGISTERS_128
#undef RUNG_FACTORS_128
#undef RUNG_ADDS_128
#undef RUNG_SUMS_256
#undef RUNG_REGISTERS_256
#undef RUNG_FACTORS_256
#undef RUNG_ADDS_256

#endif

}  // namespace rung::ptx
