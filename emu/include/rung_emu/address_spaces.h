#pragma once
// The memory that a pointer points to, and addresses within it (CUDA C++ Programming Guide, "Address
// Space Predicate Functions", "Address Space Conversion Functions"). Address spaces by the numbers
// of LLVM's NVPTX guide.

typedef unsigned int cuuint32_t;

#define RUNG_EMU_SPACE(NAME, PREDICATE, NUMBER, BUILTIN)                                   \
  static __device__ __forceinline__ __attribute__((const)) unsigned int PREDICATE(         \
      const void* pointer) {                                                               \
    return BUILTIN(pointer);                                                               \
  }                                                                                        \
  static __device__ __forceinline__ size_t __cvta_generic_to_##NAME(const void* pointer) { \
    return reinterpret_cast<size_t>(                                                       \
        (const void __attribute__((address_space(NUMBER)))*)(pointer));                    \
  }                                                                                        \
  static __device__ __forceinline__ void* __cvta_##NAME##_to_generic(size_t address) {     \
    return (void*)((void __attribute__((address_space(NUMBER)))*)(address));               \
  }
RUNG_EMU_SPACE(global, __isGlobal, 1, __nvvm_isspacep_global)
RUNG_EMU_SPACE(shared, __isShared, 3, __nvvm_isspacep_shared)
RUNG_EMU_SPACE(constant, __isConstant, 4, __nvvm_isspacep_const)
RUNG_EMU_SPACE(local, __isLocal, 5, __nvvm_isspacep_local)
#undef RUNG_EMU_SPACE
