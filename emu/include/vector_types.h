#pragma once
/* char1 to double4: sizes and alignments of CUDA 12 (CUDA C++ Programming Guide, "Built-in Vector
 * Types"). */

/* As in the header of the vendor: programs ask for it. */
#define __VECTOR_TYPES_H__

#include "host_defines.h"

/* NAME1 to NAME4 of TYPE; two of them are aligned to ALIGN2 bytes, four to ALIGN4. */
#define RUNG_EMU_VECTORS(TYPE, NAME, ALIGN2, ALIGN4)     \
  struct NAME##1 { TYPE x; };                            \
  struct __align__(ALIGN2) NAME##2 { TYPE x, y; };       \
  struct NAME##3 { TYPE x, y, z; };                      \
  struct __align__(ALIGN4) NAME##4 { TYPE x, y, z, w; }; \
  typedef struct NAME##1 NAME##1;                        \
  typedef struct NAME##2 NAME##2;                        \
  typedef struct NAME##3 NAME##3;                        \
  typedef struct NAME##4 NAME##4;

RUNG_EMU_VECTORS(signed char, char, 2, 4)
RUNG_EMU_VECTORS(unsigned char, uchar, 2, 4)
RUNG_EMU_VECTORS(short, short, 4, 8)
RUNG_EMU_VECTORS(unsigned short, ushort, 4, 8)
RUNG_EMU_VECTORS(int, int, 8, 16)
RUNG_EMU_VECTORS(unsigned int, uint, 8, 16)
RUNG_EMU_VECTORS(long, long, 16, 16)
RUNG_EMU_VECTORS(unsigned long, ulong, 16, 16)
RUNG_EMU_VECTORS(long long, longlong, 16, 16)
RUNG_EMU_VECTORS(unsigned long long, ulonglong, 16, 16)
RUNG_EMU_VECTORS(float, float, 8, 16)
RUNG_EMU_VECTORS(double, double, 16, 16)
#undef RUNG_EMU_VECTORS

/* The extent of a grid or of a block; what is left out is 1. */
struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;
