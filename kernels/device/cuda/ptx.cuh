#pragma once
// PTX instructions as functions, named after the instruction and typed after its operands.
// Specification: https://docs.nvidia.com/cuda/parallel-thread-execution/

#include <cstdint>

#include "device/cuda/keywords.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// cvt.f32.f16: exact.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt
__device__ __forceinline__ float cvt_f32_f16(std::uint16_t value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
  return result;
}

/// cvt.rn.f16.f32: to nearest, ties to even.
__device__ __forceinline__ std::uint16_t cvt_rn_f16_f32(float value) {
  std::uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}

/// cvt.rn.bf16.f32: to nearest, ties to even. From sm_80 on.
__device__ __forceinline__ std::uint16_t cvt_rn_bf16_f32(float value) {
  std::uint16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}

/// mov.b32: a float of these bits.
__device__ __forceinline__ float mov_f32_b32(std::uint32_t bits) {
  float result;
  asm("mov.b32 %0, %1;" : "=f"(result) : "r"(bits));
  return result;
}

}  // namespace rung::ptx

#endif
