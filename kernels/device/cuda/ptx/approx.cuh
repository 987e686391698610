#pragma once
// PTX instructions for epilogues: approximations by the special function units, conversions of two
// floats at a time, and maxima.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
float ex2_approx_ftz_f32(float x);
float rcp_approx_ftz_f32(float x);
std::uint16_t cvt_rn_satfinite_e4m3x2_f32(float high, float low);
std::uint16_t cvt_rn_satfinite_e5m2x2_f32(float high, float low);
std::uint32_t cvt_rn_bf16x2_f32(float high, float low);
std::uint32_t cvt_rn_f16x2_f32(float high, float low);
std::uint32_t redux_max_u32(std::uint32_t value);
void red_max_u32(void* address, std::uint32_t value);
void st_shared_u16(std::uint32_t to, std::uint16_t value);
void st_shared_u32(std::uint32_t to, std::uint32_t value);

#else

/// ex2.approx.ftz.f32: 2^x, within 2 units in the last place.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-ex2
__device__ __forceinline__ float ex2_approx_ftz_f32(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// rcp.approx.ftz.f32: 1 / x, within 1 unit in the last place.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-rcp
__device__ __forceinline__ float rcp_approx_ftz_f32(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// cvt.rn.satfinite.e4m3x2.f32: rounds to nearest, ties to even, and saturates to the largest
/// finite number. Requires sm_89.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt
__device__ __forceinline__ std::uint16_t cvt_rn_satfinite_e4m3x2_f32(float high, float low) {
  std::uint16_t result;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(result) : "f"(high), "f"(low));
  return result;
}
__device__ __forceinline__ std::uint16_t cvt_rn_satfinite_e5m2x2_f32(float high, float low) {
  std::uint16_t result;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(result) : "f"(high), "f"(low));
  return result;
}

/// cvt.rn.bf16x2.f32 and cvt.rn.f16x2.f32: round to nearest, ties to even. Require sm_80.
__device__ __forceinline__ std::uint32_t cvt_rn_bf16x2_f32(float high, float low) {
  std::uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
__device__ __forceinline__ std::uint32_t cvt_rn_f16x2_f32(float high, float low) {
  std::uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// redux.sync.max.u32 over all lanes. Requires sm_80.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-redux-sync
__device__ __forceinline__ std::uint32_t redux_max_u32(std::uint32_t value) {
  std::uint32_t result;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(result) : "r"(value));
  return result;
}

/// red.relaxed.gpu.global.max.u32: sets the word to the maximum of itself and the value.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-red
__device__ __forceinline__ void red_max_u32(void* address, std::uint32_t value) {
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// st.shared.u16 and st.shared.u32
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st
__device__ __forceinline__ void st_shared_u16(std::uint32_t to, std::uint16_t value) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(value) : "memory");
}
__device__ __forceinline__ void st_shared_u32(std::uint32_t to, std::uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

#endif

}  // namespace rung::ptx
