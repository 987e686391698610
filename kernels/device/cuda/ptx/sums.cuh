#pragma once
// PTX instructions that sums need besides those of ptx.cuh: shuffles, and additions in memory.
// Specification: https://docs.nvidia.com/cuda/parallel-thread-execution/

#include <cstdint>

#include "device/cuda/keywords.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// shfl.sync.down.b32: what the lane `by` places up has; all 32 lanes take part. Where there is no
/// such lane, the thread's own.
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

/// The same of 64 bits, as two halves.
__device__ __forceinline__ double shfl_down(double value, unsigned by) {
  std::uint32_t low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(value));
  low = shfl_down(low, by);
  high = shfl_down(high, by);
  double result;
  asm("mov.b64 %0, {%1, %2};" : "=d"(result) : "r"(low), "r"(high));
  return result;
}

/// red.relaxed.gpu.global.add: adds to what is there, in no order with anything else.
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

/// atom.acq_rel.gpu.global.inc.u32: adds 1, or goes back to 0 where `last` was there; returns what
/// was there. What this thread saw before is seen by whoever increments it later.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom
__device__ __forceinline__ unsigned atom_inc_acq_rel_gpu(unsigned* address, unsigned last) {
  unsigned old;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(last)
               : "memory");
  return old;
}

/// red.relaxed.gpu.global.inc.u32: adds 1, or goes back to 0 where `last` was there.
__device__ __forceinline__ void red_inc(unsigned* address, unsigned last) {
  asm volatile("red.relaxed.gpu.global.inc.u32 [%0], %1;" ::"l"(address), "r"(last) : "memory");
}

}  // namespace rung::ptx

#else

// Declared for kernel templates to name, defined nowhere.
namespace rung::ptx {
template <class T>
T shfl_down(T value, unsigned by);
template <class T>
void red_add(T* address, T value);
unsigned atom_inc_acq_rel_gpu(unsigned* address, unsigned last);
}  // namespace rung::ptx

#endif
