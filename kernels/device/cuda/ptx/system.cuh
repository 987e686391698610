#pragma once
// PTX instructions that synchronize a running kernel with other GPUs, copy engines, streams and the
// host.

#include "device/cuda/keywords.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// ld.acquire.sys.global.u32: loads a word that others write. Their earlier writes are visible
/// afterwards.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld
__device__ __forceinline__ unsigned ld_acquire_sys(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/// st.release.sys.global.u32: stores a word that others read. Earlier writes of this thread, and
/// writes that it has acquired, are then visible to them.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st
__device__ __forceinline__ void st_release_sys(unsigned* address, unsigned value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// atom.relaxed.gpu.global.add.u32: adds and returns the old value, without ordering other
/// accesses.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom
__device__ __forceinline__ unsigned atom_add_relaxed_gpu(unsigned* address, unsigned value) {
  unsigned old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(value)
               : "memory");
  return old;
}

/// fence.proxy.async.global: makes global memory that this thread has acquired visible to TMA.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-membar-fence
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

/// cp.async.bulk.wait_group: waits until all but at most N groups of this thread's TMA stores are
/// complete in global memory.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk-wait-group
template <int N>
__device__ __forceinline__ void tma_store_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

}  // namespace rung::ptx

#endif
