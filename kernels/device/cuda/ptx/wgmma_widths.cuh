#pragma once
// wgmma with any multiple of eight columns, for operands of 16 bits: tiles of these widths fill
// waves that powers of two leave half empty.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions

#include <cstdint>

#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/types.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J, class Sum>
void wgmma_m64_of_width(Sum (&d)[J][4], std::uint64_t a, std::uint64_t b);

#else

// The registers of J groups of eight columns, and the sums as their operands. Sums take operands 0
// to 4 J - 1; the descriptors of a and b and the transpose flags of a (along m) and b (along n)
// follow.
// clang-format off
#define RUNG_REGISTERS_4 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define RUNG_REGISTERS_5 RUNG_REGISTERS_4 ", %16, %17, %18, %19"
#define RUNG_REGISTERS_6 RUNG_REGISTERS_5 ", %20, %21, %22, %23"
#define RUNG_REGISTERS_7 RUNG_REGISTERS_6 ", %24, %25, %26, %27"
#define RUNG_REGISTERS_8 RUNG_REGISTERS_7 ", %28, %29, %30, %31"
#define RUNG_REGISTERS_9 RUNG_REGISTERS_8 ", %32, %33, %34, %35"
#define RUNG_REGISTERS_10 RUNG_REGISTERS_9 ", %36, %37, %38, %39"
#define RUNG_REGISTERS_11 RUNG_REGISTERS_10 ", %40, %41, %42, %43"
#define RUNG_REGISTERS_12 RUNG_REGISTERS_11 ", %44, %45, %46, %47"
#define RUNG_REGISTERS_13 RUNG_REGISTERS_12 ", %48, %49, %50, %51"
#define RUNG_REGISTERS_14 RUNG_REGISTERS_13 ", %52, %53, %54, %55"
#define RUNG_REGISTERS_15 RUNG_REGISTERS_14 ", %56, %57, %58, %59"
#define RUNG_REGISTERS_16 RUNG_REGISTERS_15 ", %60, %61, %62, %63"
#define RUNG_REGISTERS_17 RUNG_REGISTERS_16 ", %64, %65, %66, %67"
#define RUNG_REGISTERS_18 RUNG_REGISTERS_17 ", %68, %69, %70, %71"
#define RUNG_REGISTERS_19 RUNG_REGISTERS_18 ", %72, %73, %74, %75"
#define RUNG_REGISTERS_20 RUNG_REGISTERS_19 ", %76, %77, %78, %79"
#define RUNG_REGISTERS_21 RUNG_REGISTERS_20 ", %80, %81, %82, %83"
#define RUNG_REGISTERS_22 RUNG_REGISTERS_21 ", %84, %85, %86, %87"
#define RUNG_REGISTERS_23 RUNG_REGISTERS_22 ", %88, %89, %90, %91"
#define RUNG_REGISTERS_24 RUNG_REGISTERS_23 ", %92, %93, %94, %95"
#define RUNG_REGISTERS_25 RUNG_REGISTERS_24 ", %96, %97, %98, %99"
#define RUNG_REGISTERS_26 RUNG_REGISTERS_25 ", %100, %101, %102, %103"
#define RUNG_REGISTERS_27 RUNG_REGISTERS_26 ", %104, %105, %106, %107"
#define RUNG_REGISTERS_28 RUNG_REGISTERS_27 ", %108, %109, %110, %111"
#define RUNG_SUM(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define RUNG_SUMS_4 RUNG_SUM(0), RUNG_SUM(1), RUNG_SUM(2), RUNG_SUM(3)
#define RUNG_SUMS_5 RUNG_SUMS_4, RUNG_SUM(4)
#define RUNG_SUMS_6 RUNG_SUMS_5, RUNG_SUM(5)
#define RUNG_SUMS_7 RUNG_SUMS_6, RUNG_SUM(6)
#define RUNG_SUMS_8 RUNG_SUMS_7, RUNG_SUM(7)
#define RUNG_SUMS_9 RUNG_SUMS_8, RUNG_SUM(8)
#define RUNG_SUMS_10 RUNG_SUMS_9, RUNG_SUM(9)
#define RUNG_SUMS_11 RUNG_SUMS_10, RUNG_SUM(10)
#define RUNG_SUMS_12 RUNG_SUMS_11, RUNG_SUM(11)
#define RUNG_SUMS_13 RUNG_SUMS_12, RUNG_SUM(12)
#define RUNG_SUMS_14 RUNG_SUMS_13, RUNG_SUM(13)
#define RUNG_SUMS_15 RUNG_SUMS_14, RUNG_SUM(14)
#define RUNG_SUMS_16 RUNG_SUMS_15, RUNG_SUM(15)
#define RUNG_SUMS_17 RUNG_SUMS_16, RUNG_SUM(16)
#define RUNG_SUMS_18 RUNG_SUMS_17, RUNG_SUM(17)
#define RUNG_SUMS_19 RUNG_SUMS_18, RUNG_SUM(18)
#define RUNG_SUMS_20 RUNG_SUMS_19, RUNG_SUM(19)
#define RUNG_SUMS_21 RUNG_SUMS_20, RUNG_SUM(20)
#define RUNG_SUMS_22 RUNG_SUMS_21, RUNG_SUM(21)
#define RUNG_SUMS_23 RUNG_SUMS_22, RUNG_SUM(22)
#define RUNG_SUMS_24 RUNG_SUMS_23, RUNG_SUM(23)
#define RUNG_SUMS_25 RUNG_SUMS_24, RUNG_SUM(24)
#define RUNG_SUMS_26 RUNG_SUMS_25, RUNG_SUM(25)
#define RUNG_SUMS_27 RUNG_SUMS_26, RUNG_SUM(26)
#define RUNG_SUMS_28 RUNG_SUMS_27, RUNG_SUM(27)
// clang-format on

#define RUNG_WGMMA(N, J, A, B, ALONG_M, ALONG_N, type)                                        \
  asm volatile(                                                                               \
      "{\n\t"                                                                                 \
      ".reg .pred adds;\n\t"                                                                  \
      "setp.eq.u32 adds, 0, 0;\n\t"                                                           \
      "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type " {" RUNG_REGISTERS_##J \
      "}, %" #A ", %" #B ", adds, 1, 1, %" #ALONG_M ", %" #ALONG_N                            \
      ";\n\t"                                                                                 \
      "}"                                                                                     \
      : RUNG_SUMS_##J                                                                         \
      : "l"(a), "l"(b), "n"(A_ALONG_M ? 1 : 0), "n"(B_ALONG_N ? 1 : 0)                        \
      : "memory")
#define RUNG_IF_WIDTH(N, J_OF_N, ...)             \
  if constexpr (J == J_OF_N) {                    \
    if constexpr (is_type<In, bfloat16>) {        \
      RUNG_WGMMA(N, J_OF_N, __VA_ARGS__, "bf16"); \
    } else {                                      \
      static_assert(is_type<In, float16>);        \
      RUNG_WGMMA(N, J_OF_N, __VA_ARGS__, "f16");  \
    }                                             \
  }

/// wgmma.mma_async.m64nN with N = 8 J: d += a b, like wgmma_m64() in wgmma.cuh, which multiplies
/// the widths that it has. All others, from 32 to 224 columns, are for operands of 16 bits.
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J, class Sum>
__device__ __forceinline__ void wgmma_m64_of_width(Sum (&d)[J][4], std::uint64_t a,
                                                   std::uint64_t b) {
  static_assert(4 <= J && (J <= 28 || J == 32));
  if constexpr (J % 8 == 0 && J > 4) wgmma_m64<In, A_ALONG_M, B_ALONG_N>(d, a, b);
  RUNG_IF_WIDTH(32, 4, 16, 17, 18, 19)
  RUNG_IF_WIDTH(40, 5, 20, 21, 22, 23)
  RUNG_IF_WIDTH(48, 6, 24, 25, 26, 27)
  RUNG_IF_WIDTH(56, 7, 28, 29, 30, 31)
  RUNG_IF_WIDTH(72, 9, 36, 37, 38, 39)
  RUNG_IF_WIDTH(80, 10, 40, 41, 42, 43)
  RUNG_IF_WIDTH(88, 11, 44, 45, 46, 47)
  RUNG_IF_WIDTH(96, 12, 48, 49, 50, 51)
  RUNG_IF_WIDTH(104, 13, 52, 53, 54, 55)
  RUNG_IF_WIDTH(112, 14, 56, 57, 58, 59)
  RUNG_IF_WIDTH(120, 15, 60, 61, 62, 63)
  RUNG_IF_WIDTH(136, 17, 68, 69, 70, 71)
  RUNG_IF_WIDTH(144, 18, 72, 73, 74, 75)
  RUNG_IF_WIDTH(152, 19, 76, 77, 78, 79)
  RUNG_IF_WIDTH(160, 20, 80, 81, 82, 83)
  RUNG_IF_WIDTH(168, 21, 84, 85, 86, 87)
  RUNG_IF_WIDTH(176, 22, 88, 89, 90, 91)
  RUNG_IF_WIDTH(184, 23, 92, 93, 94, 95)
  RUNG_IF_WIDTH(200, 25, 100, 101, 102, 103)
  RUNG_IF_WIDTH(208, 26, 104, 105, 106, 107)
  RUNG_IF_WIDTH(216, 27, 108, 109, 110, 111)
  RUNG_IF_WIDTH(224, 28, 112, 113, 114, 115)
}

#undef RUNG_IF_WIDTH
#undef RUNG_WGMMA
#undef RUNG_SUM

#endif

}  // namespace rung::ptx
