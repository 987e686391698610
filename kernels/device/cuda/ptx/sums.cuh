#pragma once
// PTX instructions for sums: shuffles and additions in memory.
// Specification: https://docs.nvidia.com/cuda/parallel-thread-execution/

#include <cstdint>

#include "device/cuda/keywords.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// shfl.sync.down.b32: the value of the lane `by` positions higher, or the thread's own value if
/// there is no such lane. All 32 lanes participate.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-shfl-sync
__device__ __forceinline__ std::uint32_t shfl_down(std::uint32_t value, unsigned by) {
  std::uint32_t result;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;"
               : "=r"(result)
               : "r"(value), "r"(by));
  return result;
}

__device__ __forceinline__ float shfl_down(float value, unsigned by) {
  float result;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;"
               : "=f"(result)
               : "f"(value), "r"(by));
  return result;
}

/// Shuffles 64 bits as two halves.
__device__ __forceinline__ double shfl_down(double value, unsigned by) {
  std::uint32_t low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(value));
  low = shfl_down(low, by);
  high = shfl_down(high, by);
  double result;
  asm("mov.b64 %0, {%1, %2};" : "=d"(result) : "r"(low), "r"(high));
  return result;
}

/// red.relaxed.gpu.global.add: relaxed atomic addition.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-red
__device__ __forceinline__ void red_add(float* address, float value) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
}
__device__ __forceinline__ void red_add(double* address, double value) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(address), "d"(value) : "memory");
}
__device__ __forceinline__ void red_add(std::uint32_t* address, std::uint32_t value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// atom.acq_rel.gpu.global.inc.u32: increments, wrapping to 0 after `last`, and returns the old
/// value. Everything visible to this thread before is visible to threads that increment later.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom
__device__ __forceinline__ unsigned atom_inc_acq_rel_gpu(unsigned* address, unsigned last) {
  unsigned old;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(last)
               : "memory");
  return old;
}

/// red.relaxed.gpu.global.inc.u32: increments, wrapping to 0 after `last`.
__device__ __forceinline__ void red_inc(unsigned* address, unsigned last) {
  asm volatile("red.relaxed.gpu.global.inc.u32 [%0], %1;" ::"l"(address), "r"(last) : "memory");
}

}  // namespace rung::ptx

#else

// Only declared for kernel templates; the host never calls them.
namespace rung::ptx {
template <class T>
T shfl_down(T value, unsigned by);
template <class T>
void red_add(T* address, T value);
unsigned atom_inc_acq_rel_gpu(unsigned* address, unsigned last);
}  // namespace rung::ptx

#endif
