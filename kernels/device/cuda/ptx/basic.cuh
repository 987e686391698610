#pragma once
// PTX instructions as functions, named after the instruction and typed after its operands.
// Specification: https://docs.nvidia.com/cuda/parallel-thread-execution/

#include <cstdint>

#include "device/cuda/keywords.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// cvt.f32.f16: exact.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt
__device__ __forceinline__ float cvt_f32_f16(std::uint16_t value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
  return result;
}

/// cvt.rn.f16.f32: rounds to nearest, ties to even.
__device__ __forceinline__ std::uint16_t cvt_rn_f16_f32(float value) {
  std::uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}

/// cvt.rn.bf16.f32: rounds to nearest, ties to even. Requires sm_80.
__device__ __forceinline__ std::uint16_t cvt_rn_bf16_f32(float value) {
  std::uint16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}

/// mov.b32: the float with these bits.
__device__ __forceinline__ float mov_f32_b32(std::uint32_t bits) {
  float result;
  asm("mov.b32 %0, %1;" : "=f"(result) : "r"(bits));
  return result;
}

/// The shared-memory address of a generic pointer. Not asm, because compilers can eliminate a
/// conversion that they understand.
__device__ __forceinline__ std::uint32_t cvta_to_shared(const void* generic) {
#ifdef __clang__
  using Shared = const __attribute__((address_space(3))) void*;
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>((Shared)generic));
#else
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(generic));
#endif
}

/// st.shared.v2: two adjacent elements, aligned to their total size.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st
__device__ __forceinline__ void st_shared_v2(std::uint32_t to, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second) : "memory");
}
__device__ __forceinline__ void st_shared_v2(std::uint32_t to, std::uint32_t first,
                                             std::uint32_t second) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(first), "r"(second) : "memory");
}
__device__ __forceinline__ void st_shared_v2(std::uint32_t to, std::uint16_t first,
                                             std::uint16_t second) {
  asm volatile("st.shared.v2.b16 [%0], {%1, %2};" ::"r"(to), "h"(first), "h"(second) : "memory");
}

/// bar.sync for that many threads of the block, at one of 16 barriers; barrier 0 is that of
/// __syncthreads().
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-bar
__device__ __forceinline__ void bar_sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// bar.warp.sync of all lanes: earlier writes of each lane are visible to the others.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-bar-warp-sync
__device__ __forceinline__ void bar_warp_sync() {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

/// cp.async.{ca,cg}.shared.global: starts to copy SIZE bytes from global to shared memory. Only
/// `bytes` bytes are read; the rest is filled with zeros. 16-byte copies bypass L1. Requires sm_80.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async
template <int SIZE>
__device__ __forceinline__ void cp_async(std::uint32_t to, const void* from, int bytes) {
  static_assert(SIZE == 4 || SIZE == 8 || SIZE == 16);
  if constexpr (SIZE == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(SIZE),
                 "r"(bytes)
                 : "memory");
  }
}

/// cp.async.commit_group: the copies since the previous commit form a group.
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// cp.async.wait_group: waits until at most N of this thread's groups are in flight.
template <int N>
__device__ __forceinline__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/// atom.acq_rel.gpu.global.add.u32: adds and returns the old value. Earlier writes of this thread
/// are visible to threads that read the sum with an acquire.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom
__device__ __forceinline__ unsigned atom_add_acq_rel_gpu(unsigned* address, unsigned value) {
  unsigned old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(value)
               : "memory");
  return old;
}

/// ld.acquire.gpu.global.u32
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld
__device__ __forceinline__ unsigned ld_acquire_gpu(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

}  // namespace rung::ptx

#else

// Only declared for kernel templates; the host never calls them.
namespace rung::ptx {
std::uint32_t cvta_to_shared(const void* generic);
template <class T>
void st_shared_v2(std::uint32_t to, T first, T second);
template <int SIZE>
void cp_async(std::uint32_t to, const void* from, int bytes);
void bar_sync(int barrier, int threads);
void bar_warp_sync();
void cp_async_commit_group();
template <int N>
void cp_async_wait_group();
}  // namespace rung::ptx

#endif
