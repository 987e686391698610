#pragma once
// wgmma: a warpgroup, four warps side by side, multiplies matrices that lie in shared memory; sums
// stay in registers. From sm_90a.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions

#include <cstdint>

#include "device/cuda/types.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Declared for kernel templates to name, defined nowhere.
template <int J>
void wgmma_fence(float (&d)[J][4]);
void wgmma_commit_group();
template <int N, int J>
void wgmma_wait_group(float (&d)[J][4]);
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J>
void wgmma_m64k16(float (&d)[J][4], std::uint64_t a, std::uint64_t b);

#else

template <class In>
inline constexpr bool is_bfloat16 = false;
template <>
inline constexpr bool is_bfloat16<bfloat16> = true;

/// No compiler may move what writes or reads these registers across this place.
template <int J>
__device__ __forceinline__ void pin(float (&d)[J][4]) {
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(d[j][i])::"memory");
  }
}

/// wgmma.fence: the sums that this warp wrote are there for the wgmma that follow.
template <int J>
__device__ __forceinline__ void wgmma_fence(float (&d)[J][4]) {
  pin(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// wgmma.commit_group: the wgmma since the last one are a group.
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// wgmma.wait_group: until at most N groups are at work. `d`: the sums that others wait for, which
/// no compiler may read before.
template <int N, int J>
__device__ __forceinline__ void wgmma_wait_group(float (&d)[J][4]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
  pin(d);
}

#define RUNG_SUM1(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define RUNG_SUM2(j) RUNG_SUM1(j), RUNG_SUM1(j + 1)
#define RUNG_SUM4(j) RUNG_SUM2(j), RUNG_SUM2(j + 2)
#define RUNG_SUM8(j) RUNG_SUM4(j), RUNG_SUM4(j + 4)
#define RUNG_SUM16(j) RUNG_SUM8(j), RUNG_SUM8(j + 8)
#define RUNG_SUM24(j) RUNG_SUM16(j), RUNG_SUM8(j + 16)
#define RUNG_SUM32(j) RUNG_SUM16(j), RUNG_SUM16(j + 16)

// Registers of d, then a, b, that they are added, and whether a lies along m and b along n.
#define RUNG_WGMMA_N64(type)                                                              \
  asm volatile(                                                                           \
      "{\n\t"                                                                             \
      ".reg .pred add;\n\t"                                                               \
      "setp.ne.b32 add, %34, 0;\n\t"                                                      \
      "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                         \
      " "                                                                                 \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, " \
      "%32, %33, add, 1, 1, %35, %36;\n\t"                                                \
      "}"                                                                                 \
      : RUNG_SUM8(0)                                                                      \
      : "l"(a), "l"(b), "r"(1), "n"(A_ALONG_M ? 1 : 0), "n"(B_ALONG_N ? 1 : 0)            \
      : "memory")

// Registers of d, then a, b, that they are added, and whether a lies along m and b along n.
#define RUNG_WGMMA_N128(type)                                                             \
  asm volatile(                                                                           \
      "{\n\t"                                                                             \
      ".reg .pred add;\n\t"                                                               \
      "setp.ne.b32 add, %66, 0;\n\t"                                                      \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type                        \
      " "                                                                                 \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, " \
      "%64, %65, add, 1, 1, %67, %68;\n\t"                                                \
      "}"                                                                                 \
      : RUNG_SUM16(0)                                                                     \
      : "l"(a), "l"(b), "r"(1), "n"(A_ALONG_M ? 1 : 0), "n"(B_ALONG_N ? 1 : 0)            \
      : "memory")

// Registers of d, then a, b, that they are added, and whether a lies along m and b along n.
#define RUNG_WGMMA_N192(type)                                                             \
  asm volatile(                                                                           \
      "{\n\t"                                                                             \
      ".reg .pred add;\n\t"                                                               \
      "setp.ne.b32 add, %98, 0;\n\t"                                                      \
      "wgmma.mma_async.sync.aligned.m64n192k16.f32." type "." type                        \
      " "                                                                                 \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "  \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "  \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, " \
      "%96, %97, add, 1, 1, %99, %100;\n\t"                                               \
      "}"                                                                                 \
      : RUNG_SUM24(0)                                                                     \
      : "l"(a), "l"(b), "r"(1), "n"(A_ALONG_M ? 1 : 0), "n"(B_ALONG_N ? 1 : 0)            \
      : "memory")

// Registers of d, then a, b, that they are added, and whether a lies along m and b along n.
#define RUNG_WGMMA_N256(type)                                                                      \
  asm volatile(                                                                                    \
      "{\n\t"                                                                                      \
      ".reg .pred add;\n\t"                                                                        \
      "setp.ne.b32 add, %130, 0;\n\t"                                                              \
      "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type                                 \
      " "                                                                                          \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                    \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "           \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "           \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "           \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "           \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "           \
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
      "%111, "                                                                                     \
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
      "%127}, "                                                                                    \
      "%128, %129, add, 1, 1, %131, %132;\n\t"                                                     \
      "}"                                                                                          \
      : RUNG_SUM32(0)                                                                              \
      : "l"(a), "l"(b), "r"(1), "n"(A_ALONG_M ? 1 : 0), "n"(B_ALONG_N ? 1 : 0)                     \
      : "memory")

/// wgmma.mma_async.m64nNk16, N = 8 J: d += a b. `a` and `b` describe 64 x 16 and 16 x N elements in
/// shared memory (swizzled_lines.cuh); they lie along k, or along m and n. d[j] are
/// columns 8 j to 8 j + 7, as mma.m16n8k16 has them, of rows 16 w to 16 w + 15 in warp w. Until
/// wgmma_wait_group() d is not there.
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[J][4], std::uint64_t a, std::uint64_t b) {
  static_assert(J == 8 || J == 16 || J == 24 || J == 32);
  if constexpr (is_bfloat16<In>) {
    if constexpr (J == 8) RUNG_WGMMA_N64("bf16");
    if constexpr (J == 16) RUNG_WGMMA_N128("bf16");
    if constexpr (J == 24) RUNG_WGMMA_N192("bf16");
    if constexpr (J == 32) RUNG_WGMMA_N256("bf16");
  } else {
    if constexpr (J == 8) RUNG_WGMMA_N64("f16");
    if constexpr (J == 16) RUNG_WGMMA_N128("f16");
    if constexpr (J == 24) RUNG_WGMMA_N192("f16");
    if constexpr (J == 32) RUNG_WGMMA_N256("f16");
  }
}

#undef RUNG_WGMMA_N64
#undef RUNG_WGMMA_N128
#undef RUNG_WGMMA_N192
#undef RUNG_WGMMA_N256
#undef RUNG_SUM1
#undef RUNG_SUM2
#undef RUNG_SUM4
#undef RUNG_SUM8
#undef RUNG_SUM16
#undef RUNG_SUM24
#undef RUNG_SUM32

#endif

}  // namespace rung::ptx
