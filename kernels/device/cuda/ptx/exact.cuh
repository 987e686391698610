#pragma once
// PTX instructions for sums with known rounding errors. Each specifies its rounding, so compilers
// do not fuse it with others.
// Specification: https://docs.nvidia.com/cuda/parallel-thread-execution/

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// mul.rn: the product, rounded to nearest; never fused into an FMA.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-mul
__device__ __forceinline__ float mul_rn(float a, float b) {
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
}
__device__ __forceinline__ double mul_rn(double a, double b) {
  double product;
  asm("mul.rn.f64 %0, %1, %2;" : "=d"(product) : "d"(a), "d"(b));
  return product;
}

/// fma.rn: a * b + c, rounded once.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-fma
__device__ __forceinline__ float fma_rn(float a, float b, float c) {
  float result;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(b), "f"(c));
  return result;
}
__device__ __forceinline__ double fma_rn(double a, double b, double c) {
  double result;
  asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(result) : "d"(a), "d"(b), "d"(c));
  return result;
}

/// abs.f64
__device__ __forceinline__ double abs_f64(double value) {
  double result;
  asm("abs.f64 %0, %1;" : "=d"(result) : "d"(value));
  return result;
}

/// red.shared.add.u64: a relaxed atomic addition modulo 2^64, so numbers may be signed.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-red
__device__ __forceinline__ void red_add_shared(std::uint32_t address, std::int64_t value) {
  asm volatile("red.relaxed.cta.shared.add.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}

/// red.relaxed.gpu.global.add.u64
__device__ __forceinline__ void red_add(std::int64_t* address, std::int64_t value) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

}  // namespace rung::ptx

#else

// Only declared for kernel templates; the host never calls them.
namespace rung::ptx {
template <class T>
T mul_rn(T a, T b);
template <class T>
T fma_rn(T a, T b, T c);
double abs_f64(double value);
void red_add_shared(std::uint32_t address, std::int64_t value);
void red_add(std::int64_t* address, std::int64_t value);
}  // namespace rung::ptx

#endif
