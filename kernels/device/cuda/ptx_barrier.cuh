#pragma once
// Barriers in shared memory that count arrivals and bytes, barriers of a cluster and of some warps,
// and the fences between ordinary accesses and those of the asynchronous proxy. From sm_90.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-mbarrier

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Declared for kernel templates to name, defined nowhere.
void mbarrier_init(std::uint32_t barrier, int arrivals);
void fence_mbarrier_init();
void mbarrier_arrive(std::uint32_t barrier);
void mbarrier_arrive_cluster(std::uint32_t barrier, std::uint32_t rank);
void mbarrier_arrive_expect_tx(std::uint32_t barrier, int bytes);
void mbarrier_wait_parity(std::uint32_t barrier, std::uint32_t parity);
std::uint32_t cluster_ctarank();
void barrier_cluster_arrive_wait();
void bar_sync(int barrier, int threads);
void fence_proxy_async();
void griddepcontrol_wait();
template <int REGISTERS>
void setmaxnreg_inc();
template <int REGISTERS>
void setmaxnreg_dec();

#else

/// mbarrier.init: a phase ends when so many have arrived, and all bytes that it expects have come.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// fence.mbarrier_init.release.cluster: what was initialised before is seen by the cluster and by
/// the asynchronous proxy, after a barrier of the cluster.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// mbarrier.arrive, once, at a barrier of this block.
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// mapa and mbarrier.arrive, once, at the same barrier of block `rank` of the cluster.
__device__ __forceinline__ void mbarrier_arrive_cluster(std::uint32_t barrier, std::uint32_t rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(barrier), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

/// mbarrier.arrive.expect_tx, once: and the phase expects so many bytes more.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// mbarrier.try_wait.parity until the phase of this parity has ended. The first phase is 0; of one
/// that has just been initialised, that of parity 1 has ended.
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

/// %cluster_ctarank: this block's number in its cluster.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#special-registers-cluster-ctarank
__device__ __forceinline__ std::uint32_t cluster_ctarank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// barrier.cluster.arrive and .wait, of all threads of the cluster.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-barrier-cluster
__device__ __forceinline__ void barrier_cluster_arrive_wait() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// bar.sync of so many threads of the block, at one of 15 barriers; 0 is __syncthreads().
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-bar
__device__ __forceinline__ void bar_sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// fence.proxy.async: what this thread wrote to shared memory is there for tensor cores and copies
/// of the asynchronous proxy, once a barrier has told them.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-membar-fence
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// griddepcontrol.wait: until all launches have ended that this one might have been started ahead
/// of, and what they wrote is there.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-griddepcontrol
__device__ __forceinline__ void griddepcontrol_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// setmaxnreg: registers of each thread from here on, by all warps of a warpgroup. What one group
/// gives up another can have. From sm_90a.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#miscellaneous-instructions-setmaxnreg
template <int REGISTERS>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

#endif

}  // namespace rung::ptx
