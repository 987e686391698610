#pragma once
// wgmma with numbers of columns between those of wgmma.cuh, for operands of 16 bits: tiles of these
// widths fill waves that powers of two leave half empty.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions

#include <cstdint>

#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/types.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J>
void wgmma_m64_of_width(float (&d)[J][4], std::uint64_t a, std::uint64_t b);

#else

// clang-format off
#define RUNG_REGISTERS_56 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31" \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55"
#define RUNG_REGISTERS_72 RUNG_REGISTERS_56 \
  ", %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71"
#define RUNG_REGISTERS_112 RUNG_REGISTERS_72 \
  ", %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87" \
  ", %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103" \
  ", %104, %105, %106, %107, %108, %109, %110, %111"
#define RUNG_SUM(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define RUNG_SUMS_56 \
  RUNG_SUM(0), RUNG_SUM(1), RUNG_SUM(2), RUNG_SUM(3), RUNG_SUM(4), RUNG_SUM(5), \
  RUNG_SUM(6), RUNG_SUM(7), RUNG_SUM(8), RUNG_SUM(9), RUNG_SUM(10), RUNG_SUM(11), \
  RUNG_SUM(12), RUNG_SUM(13)
#define RUNG_SUMS_72 RUNG_SUMS_56, \
  RUNG_SUM(14), RUNG_SUM(15), RUNG_SUM(16), RUNG_SUM(17)
#define RUNG_SUMS_112 RUNG_SUMS_72, \
  RUNG_SUM(18), RUNG_SUM(19), RUNG_SUM(20), RUNG_SUM(21), RUNG_SUM(22), RUNG_SUM(23), \
  RUNG_SUM(24), RUNG_SUM(25), RUNG_SUM(26), RUNG_SUM(27)
// clang-format on

// For N columns with REGISTERS = N / 2: operands %REGISTERS and on are the descriptors of a and b,
// and the transpose flags of a (along m) and b (along n).
#define RUNG_WGMMA(N, REGISTERS, A, B, ALONG_M, ALONG_N, type)                                     \
  asm volatile(                                                                                    \
      "{\n\t"                                                                                      \
      ".reg .pred adds;\n\t"                                                                       \
      "setp.eq.u32 adds, 0, 0;\n\t"                                                                \
      "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type                              \
      " {" RUNG_REGISTERS_##REGISTERS "}, %" #A ", %" #B ", adds, 1, 1, %" #ALONG_M ", %" #ALONG_N \
                                      ";\n\t"                                                      \
                                      "}"                                                          \
      : RUNG_SUMS_##REGISTERS                                                                      \
      : "l"(a), "l"(b), "n"(A_ALONG_M ? 1 : 0), "n"(B_ALONG_N ? 1 : 0)                             \
      : "memory")
#define RUNG_WGMMA_OF_IN(...)            \
  if constexpr (is_type<In, bfloat16>) { \
    RUNG_WGMMA(__VA_ARGS__, "bf16");     \
  } else {                               \
    static_assert(is_type<In, float16>); \
    RUNG_WGMMA(__VA_ARGS__, "f16");      \
  }

/// wgmma.mma_async.m64nN with N = 8 J: d += a b, like wgmma_m64() in wgmma.cuh, which multiplies
/// the widths that it has.
template <class In, bool A_ALONG_M, bool B_ALONG_N, int J>
__device__ __forceinline__ void wgmma_m64_of_width(float (&d)[J][4], std::uint64_t a,
                                                   std::uint64_t b) {
  if constexpr (J == 14) {
    RUNG_WGMMA_OF_IN(112, 56, 56, 57, 58, 59);
  } else if constexpr (J == 18) {
    RUNG_WGMMA_OF_IN(144, 72, 72, 73, 74, 75);
  } else if constexpr (J == 28) {
    RUNG_WGMMA_OF_IN(224, 112, 112, 113, 114, 115);
  } else {
    wgmma_m64<In, A_ALONG_M, B_ALONG_N>(d, a, b);
  }
}

#undef RUNG_REGISTERS_56
#undef RUNG_SUMS_56
#undef RUNG_REGISTERS_72
#undef RUNG_SUMS_72
#undef RUNG_REGISTERS_112
#undef RUNG_SUMS_112
#undef RUNG_SUM
#undef RUNG_WGMMA
#undef RUNG_WGMMA_OF_IN

#endif

}  // namespace rung::ptx
