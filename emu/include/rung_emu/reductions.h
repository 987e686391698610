#pragma once
// __reduce_add_sync and its like: CUDA C++ Programming Guide, "Warp Reduce Functions".

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

#define RUNG_EMU_REDUCTION(NAME, TYPE, OPERATION)                          \
  static __device__ __forceinline__ TYPE NAME(unsigned mask, TYPE value) { \
    TYPE result;                                                           \
    __asm__ volatile("redux.sync." OPERATION " %0, %1, %2;"                \
                     : "=r"(result)                                        \
                     : "r"(value), "r"(mask)                               \
                     : "memory");                                          \
    return result;                                                         \
  }
RUNG_EMU_REDUCTION(__reduce_add_sync, unsigned, "add.u32")
RUNG_EMU_REDUCTION(__reduce_add_sync, int, "add.s32")
RUNG_EMU_REDUCTION(__reduce_min_sync, unsigned, "min.u32")
RUNG_EMU_REDUCTION(__reduce_min_sync, int, "min.s32")
RUNG_EMU_REDUCTION(__reduce_max_sync, unsigned, "max.u32")
RUNG_EMU_REDUCTION(__reduce_max_sync, int, "max.s32")
RUNG_EMU_REDUCTION(__reduce_and_sync, unsigned, "and.b32")
RUNG_EMU_REDUCTION(__reduce_or_sync, unsigned, "or.b32")
RUNG_EMU_REDUCTION(__reduce_xor_sync, unsigned, "xor.b32")
#undef RUNG_EMU_REDUCTION

#endif
