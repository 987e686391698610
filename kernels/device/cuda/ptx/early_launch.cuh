#pragma once
// Programmatic dependent launch for kernels that are compiled both for sm_80 and for sm_90: the
// kernel may start before the previous kernel in the stream has finished, and lets the next one do
// the same. No-ops before sm_90.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/sm_90.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
void let_next_start();
void wait_for_previous();
void prefetch_to_l2(const void* from, int bytes);

#elif __CUDA_ARCH__ >= 900

/// griddepcontrol.launch_dependents: once all blocks have executed it or exited, blocks of the next
/// kernel start as resources permit. That kernel must wait for this one's writes.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-griddepcontrol
__device__ __forceinline__ void let_next_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// griddepcontrol.wait.
__device__ __forceinline__ void wait_for_previous() { griddepcontrol_wait(); }

/// cp.async.bulk.prefetch.L2: address and size must be multiples of 16. It has no effect on values:
/// data written before the actual read is seen by that read.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk-prefetch
__device__ __forceinline__ void prefetch_to_l2(const void* from, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

#else

__device__ __forceinline__ void let_next_start() {}
__device__ __forceinline__ void wait_for_previous() {}
__device__ __forceinline__ void prefetch_to_l2(const void*, int) {}

#endif

}  // namespace rung::ptx
