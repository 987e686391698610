#pragma once
// PTX instructions introduced with sm_90, except wgmma: mbarriers, clusters, TMA and bulk copies,
// programmatic dependent launch.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
void mbarrier_init(std::uint32_t barrier, int arrivals);
void fence_mbarrier_init();
void mbarrier_arrive(std::uint32_t barrier);
void mbarrier_arrive_cluster(std::uint32_t barrier, std::uint32_t rank);
void mbarrier_arrive_expect_tx(std::uint32_t barrier, int bytes);
void mbarrier_wait_parity(std::uint32_t barrier, std::uint32_t parity);
void cp_async_mbarrier_arrive_noinc(std::uint32_t barrier);
std::uint32_t cluster_ctarank();
bool elect_one();
void barrier_cluster_arrive_wait();
void fence_proxy_async();
void griddepcontrol_wait();
template <int REGISTERS>
void setmaxnreg_inc();
template <int REGISTERS>
void setmaxnreg_dec();
void prefetch_tensormap(const void* map);
void tma_load_2d(std::uint32_t to, const void* map, int x, int y, std::uint32_t barrier);
void tma_load_3d(std::uint32_t to, const void* map, int x, int y, int z, std::uint32_t barrier);
void tma_load_2d_multicast(std::uint32_t to, const void* map, int x, int y, std::uint32_t barrier,
                           std::uint16_t blocks);
void tma_store_2d(const void* map, int x, int y, std::uint32_t from);
void tma_store_3d(const void* map, int x, int y, int z, std::uint32_t from);
void tma_store_commit_group();
template <int N>
void tma_store_wait_group_read();
void cp_async_bulk(std::uint32_t to, const void* from, int bytes, std::uint32_t barrier);

#else

// mbarriers, which count arrivals and bytes; barriers of a cluster and of some warps; fences
// between the generic and the async proxy; programmatic dependent launch.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-mbarrier

/// mbarrier.init: a phase completes after `arrivals` arrivals and all bytes that it expects.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// fence.mbarrier_init.release.cluster: after a cluster barrier, earlier initializations of
/// mbarriers are visible to the cluster's blocks and to the async proxy.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// mbarrier.arrive at an mbarrier of this block.
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// mapa and mbarrier.arrive at the corresponding mbarrier of block `rank` of the cluster.
__device__ __forceinline__ void mbarrier_arrive_cluster(std::uint32_t barrier, std::uint32_t rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(barrier), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

/// mbarrier.arrive.expect_tx: arrives, and makes the phase expect `bytes` more bytes.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Repeats mbarrier.try_wait.parity until the phase with this parity has completed. The first phase
/// has parity 0; on a new mbarrier, a wait for parity 1 returns immediately.
__device__ __forceinline__ void mbarrier_wait_parity(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n\t"
        ".reg .pred done;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, done;\n\t"
        "}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

/// cp.async.mbarrier.arrive.noinc: arrives when all earlier cp.async copies of this thread are
/// complete. Counts as one of the phase's expected arrivals.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive
__device__ __forceinline__ void cp_async_mbarrier_arrive_noinc(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/// %cluster_ctarank: the rank of this block in its cluster.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#special-registers-cluster-ctarank
__device__ __forceinline__ std::uint32_t cluster_ctarank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// barrier.cluster.arrive and .wait for all threads of the cluster.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-barrier-cluster
__device__ __forceinline__ void barrier_cluster_arrive_wait() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// fence.proxy.async: after a barrier, earlier writes of this thread to shared memory are visible
/// to the async proxy (wgmma, TMA).
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-membar-fence
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// elect.sync: true for one thread of a warp whose threads all call it. The compiler then knows that
/// one thread runs, where `threadIdx.x == 0` makes it loop over the threads at each TMA instruction.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-elect-sync
__device__ __forceinline__ bool elect_one() {
  std::uint32_t elected;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "elect.sync _|p, 0xffffffff;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t"
      "}"
      : "=r"(elected));
  return elected != 0;
}

/// griddepcontrol.wait: waits until the previous kernels in the stream have finished and their
/// writes are visible.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-griddepcontrol
__device__ __forceinline__ void griddepcontrol_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// setmaxnreg: changes the number of registers per thread, for all warps of a warpgroup. One
/// warpgroup releases registers that another one acquires. Requires sm_90a.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#miscellaneous-instructions-setmaxnreg
template <int REGISTERS>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// TMA: one thread starts to copy a box of a matrix between global and shared memory.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk-tensor

/// prefetch.tensormap
__device__ __forceinline__ void prefetch_tensormap(const void* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// cp.async.bulk.tensor.2d.shared.global: loads the box at (x, y) of a tensor map, with x along its
/// first dimension. The bytes complete at an mbarrier of this block. Elements outside the matrix
/// are zero.
__device__ __forceinline__ void tma_load_2d(std::uint32_t to, const void* map, int x, int y,
                                            std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

/// Loads a box of a three-dimensional tensor map.
__device__ __forceinline__ void tma_load_3d(std::uint32_t to, const void* map, int x, int y, int z,
                                            std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

/// Loads a two-dimensional box into each block of the cluster whose bit is set in `blocks`, at the
/// same shared-memory address. The bytes complete at the corresponding mbarrier of each block.
__device__ __forceinline__ void tma_load_2d_multicast(std::uint32_t to, const void* map, int x,
                                                      int y, std::uint32_t barrier,
                                                      std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
      : "memory");
}

/// cp.async.bulk.tensor.2d.global.shared: stores a box at (x, y); elements outside the matrix are
/// not stored.
__device__ __forceinline__ void tma_store_2d(const void* map, int x, int y, std::uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}

/// Stores a box to a three-dimensional tensor map.
__device__ __forceinline__ void tma_store_3d(const void* map, int x, int y, int z,
                                             std::uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          map),
      "r"(x), "r"(y), "r"(z), "r"(from)
      : "memory");
}

/// cp.async.bulk.commit_group: the stores of this thread since the previous commit form a group.
__device__ __forceinline__ void tma_store_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// cp.async.bulk.wait_group.read: waits until at most N groups of this thread are still reading
/// shared memory.
template <int N>
__device__ __forceinline__ void tma_store_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

// Copies of contiguous memory.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk

/// cp.async.bulk.shared.global: loads `bytes` bytes into shared memory. Both addresses and the size
/// must be multiples of 16. The bytes complete at an mbarrier of this block.
__device__ __forceinline__ void cp_async_bulk(std::uint32_t to, const void* from, int bytes,
                                              std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

#endif

}  // namespace rung::ptx
