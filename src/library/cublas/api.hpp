#pragma once
// cuBLAS's values, as NVIDIA documents them (cublas_api.h, library_types.h).

#include <cstdint>

#define CUBLAS_API extern "C" __attribute__((visibility("default")))

namespace rung::cublas {

using Handle = void*;

enum Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  execution_failed = 13,
  internal_error = 14,
  not_supported = 15,
};

enum PointerMode : int { host_pointers = 0 };
enum MathMode : int { tf32_math = 3 };  // the lower bits; above are flags

enum DataType : int {
  r_32f = 0,
  r_64f = 1,
  r_16f = 2,
  r_8i = 3,
  r_32i = 10,
  r_16bf = 14,
  r_8f_e4m3 = 28,
  r_8f_e5m2 = 29,
};

enum ComputeType : int {
  compute_32f = 68,
  compute_32f_pedantic = 69,
  compute_64f = 70,
  compute_64f_pedantic = 71,
  compute_32i = 72,
  compute_32i_pedantic = 73,
  compute_32f_fast_16f = 74,
  compute_32f_fast_16bf = 75,
  compute_32f_fast_tf32 = 77,
};

}  // namespace rung::cublas
