#pragma once
// atomicAdd and its like, with the overloads of the CUDA C++ Programming Guide, "Atomic Functions".

#define RUNG_EMU_DEVICE static __device__ __forceinline__

// NAME, NAME_block and NAME_system on a TYPE, by the compiler's functions for the three scopes.
#define RUNG_EMU_ATOMIC(NAME, TYPE, BUILTIN)                                                     \
  RUNG_EMU_DEVICE TYPE NAME(TYPE* to, TYPE value) { return BUILTIN(to, value); }                 \
  RUNG_EMU_DEVICE TYPE NAME##_block(TYPE* to, TYPE value) { return BUILTIN##_block(to, value); } \
  RUNG_EMU_DEVICE TYPE NAME##_system(TYPE* to, TYPE value) { return BUILTIN##_system(to, value); }

RUNG_EMU_ATOMIC(atomicAdd, int, __iAtomicAdd)
RUNG_EMU_ATOMIC(atomicAdd, unsigned int, __uAtomicAdd)
RUNG_EMU_ATOMIC(atomicAdd, unsigned long long, __ullAtomicAdd)
RUNG_EMU_ATOMIC(atomicAdd, float, __fAtomicAdd)
RUNG_EMU_ATOMIC(atomicAdd, double, __dAtomicAdd)
RUNG_EMU_ATOMIC(atomicExch, int, __iAtomicExch)
RUNG_EMU_ATOMIC(atomicExch, unsigned int, __uAtomicExch)
RUNG_EMU_ATOMIC(atomicExch, unsigned long long, __ullAtomicExch)
RUNG_EMU_ATOMIC(atomicExch, float, __fAtomicExch)
RUNG_EMU_ATOMIC(atomicMin, int, __iAtomicMin)
RUNG_EMU_ATOMIC(atomicMin, unsigned int, __uAtomicMin)
RUNG_EMU_ATOMIC(atomicMin, long long, __illAtomicMin)
RUNG_EMU_ATOMIC(atomicMin, unsigned long long, __ullAtomicMin)
RUNG_EMU_ATOMIC(atomicMax, int, __iAtomicMax)
RUNG_EMU_ATOMIC(atomicMax, unsigned int, __uAtomicMax)
RUNG_EMU_ATOMIC(atomicMax, long long, __illAtomicMax)
RUNG_EMU_ATOMIC(atomicMax, unsigned long long, __ullAtomicMax)
RUNG_EMU_ATOMIC(atomicAnd, int, __iAtomicAnd)
RUNG_EMU_ATOMIC(atomicAnd, unsigned int, __uAtomicAnd)
RUNG_EMU_ATOMIC(atomicAnd, unsigned long long, __ullAtomicAnd)
RUNG_EMU_ATOMIC(atomicOr, int, __iAtomicOr)
RUNG_EMU_ATOMIC(atomicOr, unsigned int, __uAtomicOr)
RUNG_EMU_ATOMIC(atomicOr, unsigned long long, __ullAtomicOr)
RUNG_EMU_ATOMIC(atomicXor, int, __iAtomicXor)
RUNG_EMU_ATOMIC(atomicXor, unsigned int, __uAtomicXor)
RUNG_EMU_ATOMIC(atomicXor, unsigned long long, __ullAtomicXor)
RUNG_EMU_ATOMIC(atomicInc, unsigned int, __uAtomicInc)
RUNG_EMU_ATOMIC(atomicDec, unsigned int, __uAtomicDec)

// PTX has no subtraction: the negated value is added.
#define RUNG_EMU_ATOMIC_SUB(NAME, TYPE, BUILTIN)      \
  RUNG_EMU_DEVICE TYPE NAME(TYPE* to, TYPE value) {   \
    return BUILTIN(to, static_cast<TYPE>(0) - value); \
  }
RUNG_EMU_ATOMIC_SUB(atomicSub, int, __iAtomicAdd)
RUNG_EMU_ATOMIC_SUB(atomicSub, unsigned int, __uAtomicAdd)
RUNG_EMU_ATOMIC_SUB(atomicSub_block, int, __iAtomicAdd_block)
RUNG_EMU_ATOMIC_SUB(atomicSub_block, unsigned int, __uAtomicAdd_block)
RUNG_EMU_ATOMIC_SUB(atomicSub_system, int, __iAtomicAdd_system)
RUNG_EMU_ATOMIC_SUB(atomicSub_system, unsigned int, __uAtomicAdd_system)

#define RUNG_EMU_ATOMIC_CAS(SUFFIX, TYPE, BUILTIN)                              \
  RUNG_EMU_DEVICE TYPE atomicCAS##SUFFIX(TYPE* to, TYPE expected, TYPE value) { \
    return BUILTIN##SUFFIX(to, expected, value);                                \
  }
RUNG_EMU_ATOMIC_CAS(, int, __iAtomicCAS)
RUNG_EMU_ATOMIC_CAS(_block, int, __iAtomicCAS)
RUNG_EMU_ATOMIC_CAS(_system, int, __iAtomicCAS)
RUNG_EMU_ATOMIC_CAS(, unsigned int, __uAtomicCAS)
RUNG_EMU_ATOMIC_CAS(_block, unsigned int, __uAtomicCAS)
RUNG_EMU_ATOMIC_CAS(_system, unsigned int, __uAtomicCAS)
RUNG_EMU_ATOMIC_CAS(, unsigned long long, __ullAtomicCAS)
RUNG_EMU_ATOMIC_CAS(_block, unsigned long long, __ullAtomicCAS)
RUNG_EMU_ATOMIC_CAS(_system, unsigned long long, __ullAtomicCAS)

RUNG_EMU_DEVICE unsigned short atomicCAS(unsigned short* to, unsigned short expected,
                                         unsigned short value) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
               : "=h"(old)
               : "l"(to), "h"(expected), "h"(value)
               : "memory");
  return old;
}

#undef RUNG_EMU_ATOMIC
#undef RUNG_EMU_ATOMIC_SUB
#undef RUNG_EMU_ATOMIC_CAS
