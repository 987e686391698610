#pragma once
// Loads and stores with cache hints (CUDA C++ Programming Guide, "Load Functions Using Cache
// Hints"). The hints have no effect here, so these are plain accesses; __ldg, whose memory is
// read-only, comes with clang.

#define RUNG_EMU_HINTED(TYPE)                                                          \
  static __device__ __forceinline__ TYPE __ldca(const TYPE* from) { return *from; }    \
  static __device__ __forceinline__ TYPE __ldcg(const TYPE* from) { return *from; }    \
  static __device__ __forceinline__ TYPE __ldcs(const TYPE* from) { return *from; }    \
  static __device__ __forceinline__ TYPE __ldlu(const TYPE* from) { return *from; }    \
  static __device__ __forceinline__ TYPE __ldcv(const TYPE* from) {                    \
    __asm__ volatile("" ::: "memory");                                                 \
    return *from;                                                                      \
  }                                                                                    \
  static __device__ __forceinline__ void __stwb(TYPE* to, TYPE value) { *to = value; } \
  static __device__ __forceinline__ void __stcg(TYPE* to, TYPE value) { *to = value; } \
  static __device__ __forceinline__ void __stcs(TYPE* to, TYPE value) { *to = value; } \
  static __device__ __forceinline__ void __stwt(TYPE* to, TYPE value) { *to = value; }
#define RUNG_EMU_HINTED_VECTORS(TYPE) \
  RUNG_EMU_HINTED(TYPE##2)            \
  RUNG_EMU_HINTED(TYPE##4)
RUNG_EMU_HINTED(char)
RUNG_EMU_HINTED(signed char)
RUNG_EMU_HINTED(short)
RUNG_EMU_HINTED(int)
RUNG_EMU_HINTED(long)
RUNG_EMU_HINTED(long long)
RUNG_EMU_HINTED(unsigned char)
RUNG_EMU_HINTED(unsigned short)
RUNG_EMU_HINTED(unsigned int)
RUNG_EMU_HINTED(unsigned long)
RUNG_EMU_HINTED(unsigned long long)
RUNG_EMU_HINTED(float)
RUNG_EMU_HINTED(double)
RUNG_EMU_HINTED_VECTORS(char)
RUNG_EMU_HINTED_VECTORS(short)
RUNG_EMU_HINTED_VECTORS(int)
RUNG_EMU_HINTED_VECTORS(uchar)
RUNG_EMU_HINTED_VECTORS(ushort)
RUNG_EMU_HINTED_VECTORS(uint)
RUNG_EMU_HINTED_VECTORS(float)
RUNG_EMU_HINTED(longlong2)
RUNG_EMU_HINTED(ulonglong2)
RUNG_EMU_HINTED(double2)
#undef RUNG_EMU_HINTED_VECTORS
