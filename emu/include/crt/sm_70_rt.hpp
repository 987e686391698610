#pragma once
// Clang's headers include this name where CUDA's has the functions of compute capability 7.0.

#define RUNG_EMU_MATCH(TYPE, BITS, BITS_TYPE)                                             \
  static inline __device__ unsigned int __match_any_sync(unsigned int mask, TYPE value) { \
    return __match##BITS##_any_sync(mask, __builtin_bit_cast(BITS_TYPE, value));          \
  }                                                                                       \
  static inline __device__ unsigned int __match_all_sync(unsigned int mask, TYPE value,   \
                                                         int* all) {                      \
    return __match##BITS##_all_sync(mask, __builtin_bit_cast(BITS_TYPE, value), all);     \
  }
RUNG_EMU_MATCH(int, 32, unsigned int)
RUNG_EMU_MATCH(unsigned int, 32, unsigned int)
RUNG_EMU_MATCH(float, 32, unsigned int)
RUNG_EMU_MATCH(long, 64, unsigned long long)
RUNG_EMU_MATCH(unsigned long, 64, unsigned long long)
RUNG_EMU_MATCH(long long, 64, unsigned long long)
RUNG_EMU_MATCH(unsigned long long, 64, unsigned long long)
RUNG_EMU_MATCH(double, 64, unsigned long long)
#undef RUNG_EMU_MATCH

static inline __device__ void __nanosleep(unsigned int nanoseconds) {
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}
