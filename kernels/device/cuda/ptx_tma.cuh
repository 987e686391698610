#pragma once
// The tensor memory accelerator: one thread asks for a box of a matrix, which comes to shared
// memory or goes from there as a whole. From sm_90.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk-tensor

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Declared for kernel templates to name, defined nowhere.
void prefetch_tensormap(const void* map);
void tma_load_2d(std::uint32_t to, const void* map, int x, int y, std::uint32_t barrier);
void tma_load_2d_multicast(std::uint32_t to, const void* map, int x, int y, std::uint32_t barrier,
                           std::uint16_t blocks);
void tma_store_2d(const void* map, int x, int y, std::uint32_t from);
void tma_store_commit_group();
template <int N>
void tma_store_wait_group_read();

#else

/// prefetch.tensormap
__device__ __forceinline__ void prefetch_tensormap(const void* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// cp.async.bulk.tensor.2d.shared.global: the box at (x, y) of a map, x along its first dimension,
/// to shared memory; its bytes complete at a barrier of this block. Zeros beyond the edges.
__device__ __forceinline__ void tma_load_2d(std::uint32_t to, const void* map, int x, int y,
                                            std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

/// The same to each block of the cluster whose bit is set in `blocks`, at the same place in its
/// shared memory; the bytes complete at the same barrier of each.
__device__ __forceinline__ void tma_load_2d_multicast(std::uint32_t to, const void* map, int x,
                                                      int y, std::uint32_t barrier,
                                                      std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
      : "memory");
}

/// cp.async.bulk.tensor.2d.global.shared: the box from shared memory to (x, y); what lies beyond
/// the edges is dropped.
__device__ __forceinline__ void tma_store_2d(const void* map, int x, int y, std::uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}

/// cp.async.bulk.commit_group: this thread's stores since the last one are a group.
__device__ __forceinline__ void tma_store_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// cp.async.bulk.wait_group.read: until at most N groups of this thread still read shared memory.
template <int N>
__device__ __forceinline__ void tma_store_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

#endif

}  // namespace rung::ptx
