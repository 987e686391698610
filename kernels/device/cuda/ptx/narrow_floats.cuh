#pragma once
// Conversions from and to floats of 4 and 8 bits.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/approx.cuh"
#include "device/cuda/ptx/basic.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// cvt.rn.satfinite.e2m1x2.f32: rounds to nearest, ties to even, at most 6; `high` is in bits 4 to 7.
/// Requires sm_100a.
__device__ __forceinline__ std::uint32_t cvt_rn_satfinite_e2m1x2_f32(float high, float low) {
  std::uint32_t result;
  asm("{\n\t"
      ".reg .b8 pair;\n\t"
      "cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2;\n\t"
      "cvt.u32.u8 %0, pair;\n\t"
      "}"
      : "=r"(result)
      : "f"(high), "f"(low));
  return result;
}

/// One e4m3: see cvt_rn_satfinite_e4m3x2_f32().
__device__ __forceinline__ std::uint32_t cvt_rn_satfinite_e4m3_f32(float value) {
  return cvt_rn_satfinite_e4m3x2_f32(0.0f, value);
}

/// cvt.rn.f16x2.e4m3x2 and cvt.f32.f16: exact. Requires sm_89.
__device__ __forceinline__ float cvt_f32_e4m3(std::uint32_t bits) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<std::uint16_t>(bits)));
  return cvt_f32_f16(static_cast<std::uint16_t>(pair));
}

}  // namespace rung::ptx

#endif
