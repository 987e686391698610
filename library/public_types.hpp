#pragma once
// The element types of the public interface. The overloads of gemm, gemm_batched, gemm_grouped and dot, and the C
// functions, are defined from these lists; include/rung declares them.

#include <cstdint>

#include "rung/storage_types.hpp"

/// TYPES(suffix of the C functions, type of A and B, type of C, the same two in C): products on CPUs.
#define RUNG_CPU_GEMM_TYPES(TYPES)                                   \
  TYPES(f32, float, float, float, float)                             \
  TYPES(f64, double, double, double, double)                         \
  TYPES(i32, std::int32_t, std::int32_t, std::int32_t, std::int32_t) \
  TYPES(bf16, bfloat16, float, rung_bfloat16, float)                 \
  TYPES(f16, float16, float, rung_float16, float)                    \
  TYPES(i8, std::int8_t, std::int32_t, std::int8_t, std::int32_t)

/// Grouped products on CPUs.
#define RUNG_CPU_GROUPED_TYPES(TYPES)                                \
  RUNG_CPU_GEMM_TYPES(TYPES)                                         \
  TYPES(bf16_bf16, bfloat16, bfloat16, rung_bfloat16, rung_bfloat16) \
  TYPES(f16_f16, float16, float16, rung_float16, rung_float16)       \
  TYPES(e4m3, float8_e4m3, float, rung_float8_e4m3, float)           \
  TYPES(e5m2, float8_e5m2, float, rung_float8_e5m2, float)

/// Products on GPUs.
#define RUNG_CUDA_GEMM_TYPES(TYPES) \
  RUNG_CPU_GROUPED_TYPES(TYPES)     \
  TYPES(tf32, tfloat32, float, float, float)

/// TYPES(suffix, type of x and y, type of the result, the same two in C): dot products.
#define RUNG_PUBLIC_DOT_TYPES(TYPES)                 \
  TYPES(f32, float, float, float, float)             \
  TYPES(f64, double, double, double, double)         \
  TYPES(bf16, bfloat16, float, rung_bfloat16, float) \
  TYPES(f16, float16, float, rung_float16, float)
