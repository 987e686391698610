#pragma once
// What a kernel that is compiled for sm_80 and anew for sm_90 has of programmatic dependent launch: it may
// start before the previous kernel in the stream has finished, and lets the next one do so. Before sm_90
// these do nothing.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/sm_90.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Kernel templates name these; the host never calls them.
void let_next_start();
void wait_for_previous();
void prefetch_to_l2(const void* from, int bytes);

#elif __CUDA_ARCH__ >= 900

/// griddepcontrol.launch_dependents: once all blocks have executed it or ended, blocks of the next kernel
/// start wherever there is room for them. It has to wait for this one's writes.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-griddepcontrol
__device__ __forceinline__ void let_next_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// griddepcontrol.wait.
__device__ __forceinline__ void wait_for_previous() { griddepcontrol_wait(); }

/// cp.async.bulk.prefetch.L2: both multiples of 16. It reads nothing: what is written there before it is
/// read is read.
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
