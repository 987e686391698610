#pragma once
// wgmma: a warpgroup of four consecutive warps multiplies matrices in shared memory and accumulates
// in registers. Requires sm_90a.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions

#include <cstdint>

#include "device/cuda/types.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
template <int J, class Sum>
void set_undefined(Sum (&d)[J][4]);
template <int J, class Sum>
void wgmma_fence(Sum (&d)[J][4]);
void wgmma_commit_group();
template <int N, int J, class Sum>
void wgmma_wait_group(Sum (&d)[J][4]);
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J, class Sum>
void wgmma_m64(Sum (&d)[J][4], std::uint64_t a, std::uint64_t b, bool adds = true);
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J>
void wgmma_m64k16(float (&d)[J][4], std::uint64_t a, std::uint64_t b);

#else

template <class A, class B>
inline constexpr bool is_type = false;
template <class A>
inline constexpr bool is_type<A, A> = true;

/// A compiler barrier for these registers: no access to them moves across it.
template <int J, class Sum>
__device__ __forceinline__ void pin(Sum (&d)[J][4]) {
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) {
      if constexpr (is_type<Sum, float>) {
        asm volatile("" : "+f"(d[j][i])::"memory");
      } else {
        asm volatile("" : "+r"(d[j][i])::"memory");
      }
    }
  }
}

/// Leaves sums undefined, for a wgmma that does not add to them.
template <int J>
__device__ __forceinline__ void set_undefined(float (&d)[J][4]) {
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) asm volatile("" : "=f"(d[j][i]));
  }
}

/// wgmma.fence: orders this warp's writes of the sums before the following wgmma instructions.
template <int J, class Sum>
__device__ __forceinline__ void wgmma_fence(Sum (&d)[J][4]) {
  pin(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// wgmma.commit_group: the wgmma instructions since the previous commit form a group.
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// wgmma.wait_group: waits until at most N groups are in flight. The compiler must not read the
/// sums `d` before it.
template <int N, int J, class Sum>
__device__ __forceinline__ void wgmma_wait_group(Sum (&d)[J][4]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
  pin(d);
}

// Sums as asm operands. C is the constraint of their type.
#define RUNG_SUM1(C, j) C(d[j][0]), C(d[j][1]), C(d[j][2]), C(d[j][3])
#define RUNG_SUM2(C, j) RUNG_SUM1(C, j), RUNG_SUM1(C, j + 1)
#define RUNG_SUM4(C, j) RUNG_SUM2(C, j), RUNG_SUM2(C, j + 2)
#define RUNG_SUM8(C, j) RUNG_SUM4(C, j), RUNG_SUM4(C, j + 4)
#define RUNG_SUM16(C, j) RUNG_SUM8(C, j), RUNG_SUM8(C, j + 8)
#define RUNG_SUM24(C, j) RUNG_SUM16(C, j), RUNG_SUM8(C, j + 16)
#define RUNG_SUM32(C, j) RUNG_SUM16(C, j), RUNG_SUM16(C, j + 16)

// For each N: the sums as operands and as registers, followed by the operands for the descriptors
// of a and b, the scale-d predicate, and the transpose flags of a (along m) and b (along n).
#define RUNG_SUMS_64(C) RUNG_SUM8(C, 0)
#define RUNG_REGISTERS_64                                                   \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define RUNG_FACTORS_64 "%32, %33"
#define RUNG_ADDS_64 "%34"
#define RUNG_LAYOUTS_64 ", %35, %36"

#define RUNG_SUMS_128(C) RUNG_SUM16(C, 0)
#define RUNG_REGISTERS_128                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define RUNG_FACTORS_128 "%64, %65"
#define RUNG_ADDS_128 "%66"
#define RUNG_LAYOUTS_128 ", %67, %68"

#define RUNG_SUMS_192(C) RUNG_SUM24(C, 0)
#define RUNG_REGISTERS_192                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}"
#define RUNG_FACTORS_192 "%96, %97"
#define RUNG_ADDS_192 "%98"
#define RUNG_LAYOUTS_192 ", %99, %100"

#define RUNG_SUMS_256(C) RUNG_SUM32(C, 0)
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
#define RUNG_FACTORS_256 "%128, %129"
#define RUNG_ADDS_256 "%130"
#define RUNG_LAYOUTS_256 ", %131, %132"

#define RUNG_WGMMA(N, types, C, more)                                                           \
  asm volatile(                                                                                 \
      "{\n\t"                                                                                   \
      ".reg .pred adds;\n\t"                                                                    \
      "setp.ne.b32 adds, " RUNG_ADDS_##N                                                        \
      ", 0;\n\t"                                                                                \
      "wgmma.mma_async.sync.aligned.m64n" #N types " " RUNG_REGISTERS_##N ", " RUNG_FACTORS_##N \
      ", adds" more                                                                             \
      ";\n\t"                                                                                   \
      "}"                                                                                       \
      : RUNG_SUMS_##N(C)                                                                        \
      : "l"(a), "l"(b), "r"(adds ? 1 : 0), "n"(A_ALONG_M ? 1 : 0), "n"(B_ALONG_N ? 1 : 0)       \
      : "memory")

#define RUNG_WGMMA_OF_HALVES(N, type) \
  RUNG_WGMMA(N, "k16.f32." type "." type, "+f", ", 1, 1" RUNG_LAYOUTS_##N)

/// The instruction for N columns of sums.
#define RUNG_WGMMA_OF_IN(N)                                                                   \
  if constexpr (is_type<In, bfloat16>) RUNG_WGMMA_OF_HALVES(N, "bf16");                       \
  if constexpr (is_type<In, float16>) RUNG_WGMMA_OF_HALVES(N, "f16");                         \
  if constexpr (is_type<In, tfloat32>) RUNG_WGMMA(N, "k8.f32.tf32.tf32", "+f", ", 1, 1");     \
  if constexpr (is_type<In, std::int8_t>) RUNG_WGMMA(N, "k32.s32.s8.s8", "+r", "");           \
  if constexpr (is_type<In, float8_e4m3>) RUNG_WGMMA(N, "k32.f32.e4m3.e4m3", "+f", ", 1, 1"); \
  if constexpr (is_type<In, float8_e5m2>) RUNG_WGMMA(N, "k32.f32.e5m2.e5m2", "+f", ", 1, 1")

/// wgmma.mma_async.m64nN with N = 8 J: d += a b, or d = a b if not `adds`. `a` and `b` describe 64
/// rows and N columns by 32 bytes of k in shared memory (tile/swizzled_tile.cuh), K-major or, for
/// 16-bit types, optionally MN-major. d[j] holds columns 8 j to 8 j + 7 in the layout of
/// mma.m16n8k16; warp w holds rows 16 w to 16 w + 15. d is not valid until wgmma_wait_group().
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J, class Sum>
__device__ __forceinline__ void wgmma_m64(Sum (&d)[J][4], std::uint64_t a, std::uint64_t b,
                                          bool adds = true) {
  static_assert(sizeof(In) == 2 || !(A_ALONG_M || B_ALONG_N));
  static_assert(J == 8 || J == 16 || J == 24 || J == 32);
  if constexpr (J == 8) {
    RUNG_WGMMA_OF_IN(64);
  } else if constexpr (J == 16) {
    RUNG_WGMMA_OF_IN(128);
  } else if constexpr (J == 24) {
    RUNG_WGMMA_OF_IN(192);
  } else {
    RUNG_WGMMA_OF_IN(256);
  }
}

/// wgmma_m64() for 16-bit elements.
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[J][4], std::uint64_t a, std::uint64_t b) {
  wgmma_m64<In, A_ALONG_M, B_ALONG_N>(d, a, b);
}

#undef RUNG_SUM1
#undef RUNG_SUM2
#undef RUNG_SUM4
#undef RUNG_SUM8
#undef RUNG_SUM16
#undef RUNG_SUM24
#undef RUNG_SUM32
#undef RUNG_SUMS_64
#undef RUNG_REGISTERS_64
#undef RUNG_FACTORS_64
#undef RUNG_ADDS_64
#undef RUNG_LAYOUTS_64
#undef RUNG_SUMS_128
#undef RUNG_REGISTERS_128
#undef RUNG_FACTORS_128
#undef RUNG_ADDS_128
#undef RUNG_LAYOUTS_128
#undef RUNG_SUMS_192
#undef RUNG_REGISTERS_192
#undef RUNG_FACTORS_192
#undef RUNG_ADDS_192
#undef RUNG_LAYOUTS_192
#undef RUNG_SUMS_256
#undef RUNG_REGISTERS_256
#undef RUNG_FACTORS_256
#undef RUNG_ADDS_256
#undef RUNG_LAYOUTS_256
#undef RUNG_WGMMA
#undef RUNG_WGMMA_OF_HALVES
#undef RUNG_WGMMA_OF_IN

#endif

}  // namespace rung::ptx
