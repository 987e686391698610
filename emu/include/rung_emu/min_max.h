#pragma once
// min and max of mixed and of wide types, for both sides, as the programming guide has them.

#define RUNG_EMU_MIN_MAX(TYPE, A, B)                                           \
  static __host__ __device__ __forceinline__ TYPE min(A a, B b) {              \
    return static_cast<TYPE>(a) < static_cast<TYPE>(b) ? static_cast<TYPE>(a)  \
                                                       : static_cast<TYPE>(b); \
  }                                                                            \
  static __host__ __device__ __forceinline__ TYPE max(A a, B b) {              \
    return static_cast<TYPE>(a) > static_cast<TYPE>(b) ? static_cast<TYPE>(a)  \
                                                       : static_cast<TYPE>(b); \
  }
RUNG_EMU_MIN_MAX(unsigned int, unsigned int, unsigned int)
RUNG_EMU_MIN_MAX(unsigned int, int, unsigned int)
RUNG_EMU_MIN_MAX(unsigned int, unsigned int, int)
RUNG_EMU_MIN_MAX(long, long, long)
RUNG_EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
RUNG_EMU_MIN_MAX(unsigned long, long, unsigned long)
RUNG_EMU_MIN_MAX(unsigned long, unsigned long, long)
RUNG_EMU_MIN_MAX(long long, long long, long long)
RUNG_EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
RUNG_EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
RUNG_EMU_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef RUNG_EMU_MIN_MAX
#define RUNG_EMU_FLOAT_MIN_MAX(TYPE, A, B, MIN, MAX)                                  \
  static __host__ __device__ __forceinline__ TYPE min(A a, B b) { return MIN(a, b); } \
  static __host__ __device__ __forceinline__ TYPE max(A a, B b) { return MAX(a, b); }
RUNG_EMU_FLOAT_MIN_MAX(float, float, float, fminf, fmaxf)
RUNG_EMU_FLOAT_MIN_MAX(double, double, double, fmin, fmax)
RUNG_EMU_FLOAT_MIN_MAX(double, float, double, fmin, fmax)
RUNG_EMU_FLOAT_MIN_MAX(double, double, float, fmin, fmax)
#undef RUNG_EMU_FLOAT_MIN_MAX

// nvcc has min(int, int) and max(int, int) in host code as well.
static inline __host__ int min(int a, int b) { return a < b ? a : b; }
static inline __host__ int max(int a, int b) { return a > b ? a : b; }
