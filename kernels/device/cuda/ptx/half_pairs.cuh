#pragma once
// Arithmetic on pairs of 16-bit numbers in a register. Requires sm_80.

#include <cstdint>

#include "device/cuda/types.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
template <class In>
std::uint32_t fma_rn_x2(std::uint32_t a, std::uint32_t b, std::uint32_t c);
std::uint32_t and_or(std::uint32_t a, std::uint32_t b, std::uint32_t c);
std::uint32_t and_xor(std::uint32_t a, std::uint32_t b, std::uint32_t c);

#else

/// lop3.b32: a & b | c in one instruction. With two constants, compilers generate two.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#logic-and-shift-instructions-lop3
__device__ __forceinline__ std::uint32_t and_or(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

/// lop3.b32: (a & b) ^ c in one instruction.
__device__ __forceinline__ std::uint32_t and_xor(std::uint32_t a, std::uint32_t b,
                                                 std::uint32_t c) {
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

/// fma.rn.bf16x2 and fma.rn.f16x2: a * b + c for both halves, rounded once to nearest.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#half-precision-floating-point-instructions-fma
template <class In>
__device__ __forceinline__ std::uint32_t fma_rn_x2(std::uint32_t a, std::uint32_t b,
                                                   std::uint32_t c);

template <>
__device__ __forceinline__ std::uint32_t fma_rn_x2<bfloat16>(std::uint32_t a, std::uint32_t b,
                                                             std::uint32_t c) {
  std::uint32_t result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

template <>
__device__ __forceinline__ std::uint32_t fma_rn_x2<float16>(std::uint32_t a, std::uint32_t b,
                                                            std::uint32_t c) {
  std::uint32_t result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

#endif

}  // namespace rung::ptx
