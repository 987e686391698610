#pragma once
/* make_char1 to make_double4. */

/* As in the header of the vendor: programs ask for it. */
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define RUNG_EMU_MAKE(TYPE, NAME)                                                            \
  static inline __host__ __device__ NAME##1 make_##NAME##1(TYPE x) {                         \
    NAME##1 v = {x};                                                                         \
    return v;                                                                                \
  }                                                                                          \
  static inline __host__ __device__ NAME##2 make_##NAME##2(TYPE x, TYPE y) {                 \
    NAME##2 v = {x, y};                                                                      \
    return v;                                                                                \
  }                                                                                          \
  static inline __host__ __device__ NAME##3 make_##NAME##3(TYPE x, TYPE y, TYPE z) {         \
    NAME##3 v = {x, y, z};                                                                   \
    return v;                                                                                \
  }                                                                                          \
  static inline __host__ __device__ NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { \
    NAME##4 v = {x, y, z, w};                                                                \
    return v;                                                                                \
  }

RUNG_EMU_MAKE(signed char, char)
RUNG_EMU_MAKE(unsigned char, uchar)
RUNG_EMU_MAKE(short, short)
RUNG_EMU_MAKE(unsigned short, ushort)
RUNG_EMU_MAKE(int, int)
RUNG_EMU_MAKE(unsigned int, uint)
RUNG_EMU_MAKE(long, long)
RUNG_EMU_MAKE(unsigned long, ulong)
RUNG_EMU_MAKE(long long, longlong)
RUNG_EMU_MAKE(unsigned long long, ulonglong)
RUNG_EMU_MAKE(float, float)
RUNG_EMU_MAKE(double, double)
#undef RUNG_EMU_MAKE
