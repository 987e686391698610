#pragma once
/* Arithmetic on pairs of floats: CUDA has it from 12.9 on, for sm_100 and later. */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000

#define RUNG_FLOAT_PAIRS(MODE)                                            \
  __device__ inline float2 __fadd2_##MODE(float2 a, float2 b) {           \
    return {__fadd_##MODE(a.x, b.x), __fadd_##MODE(a.y, b.y)};            \
  }                                                                       \
  __device__ inline float2 __fmul2_##MODE(float2 a, float2 b) {           \
    return {__fmul_##MODE(a.x, b.x), __fmul_##MODE(a.y, b.y)};            \
  }                                                                       \
  __device__ inline float2 __ffma2_##MODE(float2 a, float2 b, float2 c) { \
    return {__fmaf_##MODE(a.x, b.x, c.x), __fmaf_##MODE(a.y, b.y, c.y)};  \
  }

RUNG_FLOAT_PAIRS(rn)
RUNG_FLOAT_PAIRS(rz)
RUNG_FLOAT_PAIRS(rd)
RUNG_FLOAT_PAIRS(ru)

#undef RUNG_FLOAT_PAIRS

#endif
