#pragma once
// tcgen05: the tensor cores of sm_100a multiply matrices in shared memory, and accumulate in tensor
// memory, which has 128 lanes of 512 columns of 32 bits per SM. An address is a column in bits 0 to
// 15 and a lane in bits 16 to 31. GROUP is 2 for instructions of a pair of blocks. Requires
// sm_100a.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#tensorcore-5th-generation-family-instructions

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
template <int COLUMNS, int GROUP = 1>
void tcgen05_alloc(std::uint32_t to);
template <int COLUMNS, int GROUP = 1>
void tcgen05_dealloc(std::uint32_t address);
void tcgen05_fence_before_thread_sync();
void tcgen05_fence_after_thread_sync();
template <int GROUP = 1>
void tcgen05_mma_f16(std::uint32_t d, std::uint64_t a, std::uint64_t b, std::uint32_t form,
                     bool adds);
std::uint32_t mapa(std::uint32_t address, std::uint32_t rank);
void tma_load_2d_of_pair(std::uint32_t to, const void* map, int x, int y, std::uint32_t barrier);
void tcgen05_commit(std::uint32_t barrier);
void tcgen05_commit_multicast(std::uint32_t barrier, std::uint16_t blocks);
void tcgen05_ld(float (&d)[32], std::uint32_t address);
void tcgen05_wait_ld(float (&d)[32]);

#else

/// tcgen05.alloc: one warp, or one of each block of a pair, allocates columns of tensor memory, 32
/// to 512 and a power of two, and writes their address to shared memory. Waits for columns that
/// other blocks use. Afterwards this block allocates no more, so that other blocks need not wait.
template <int COLUMNS, int GROUP = 1>
__device__ __forceinline__ void tcgen05_alloc(std::uint32_t to) {
  if constexpr (GROUP == 1) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n\t"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(to),
        "n"(COLUMNS)
        : "memory");
  } else {
    asm volatile(
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;\n\t"
        "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::"r"(to),
        "n"(COLUMNS)
        : "memory");
  }
}

/// tcgen05.dealloc: one warp, or one of each block of a pair, releases the columns. Each block must
/// do so before it exits.
template <int COLUMNS, int GROUP = 1>
__device__ __forceinline__ void tcgen05_dealloc(std::uint32_t address) {
  if constexpr (GROUP == 1) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "n"(COLUMNS)
                 : "memory");
  } else {
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "n"(COLUMNS)
                 : "memory");
  }
}

/// tcgen05.fence: orders this thread's tcgen05 instructions before a barrier, or after one, with
/// those of threads on the other side of it.
__device__ __forceinline__ void tcgen05_fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ __forceinline__ void tcgen05_fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// tcgen05.mma.kind::f16: one thread starts d += a b, or d = a b if not `adds`. `a` and `b`
/// describe 32 bytes of k-steps in shared memory, `form` the types, the layouts and the numbers of
/// rows and columns (tile/tcgen05_descriptors.cuh). Multiplications of one thread run in their
/// order.
template <int GROUP = 1>
__device__ __forceinline__ void tcgen05_mma_f16(std::uint32_t d, std::uint64_t a, std::uint64_t b,
                                                std::uint32_t form, bool adds) {
#define RUNG_TCGEN05_MMA(group)                    \
  asm volatile(                                    \
      "{\n\t"                                      \
      ".reg .pred adds;\n\t"                       \
      "setp.ne.b32 adds, %4, 0;\n\t"               \
      "tcgen05.mma.cta_group::" #group             \
      ".kind::f16 [%0], %1, %2, %3, adds;\n\t"     \
      "}" ::"r"(d),                                \
      "l"(a), "l"(b), "r"(form), "r"(adds ? 1 : 0) \
      : "memory")
  if constexpr (GROUP == 1) {
    RUNG_TCGEN05_MMA(1);
  } else {
    RUNG_TCGEN05_MMA(2);
  }
#undef RUNG_TCGEN05_MMA
}

/// tcgen05.commit: arrives at an mbarrier when all earlier multiplications of this thread are
/// complete.
__device__ __forceinline__ void tcgen05_commit(std::uint32_t barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
      : "memory");
}

/// tcgen05.commit of a pair: arrives at the corresponding mbarrier of each block of the cluster
/// whose bit is set in `blocks`.
__device__ __forceinline__ void tcgen05_commit_multicast(std::uint32_t barrier,
                                                         std::uint16_t blocks) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
      "[%0], %1;" ::"r"(barrier),
      "h"(blocks)
      : "memory");
}

/// mapa: the shared::cluster address of the corresponding variable of block `rank` of the cluster.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-mapa
__device__ __forceinline__ std::uint32_t mapa(std::uint32_t address, std::uint32_t rank) {
  std::uint32_t result;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}

/// cp.async.bulk.tensor with .cta_group::2: loads a box into this block. The bytes complete at an
/// mbarrier of either block of the pair, a shared::cluster address.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk-tensor
__device__ __forceinline__ void tma_load_2d_of_pair(std::uint32_t to, const void* map, int x, int y,
                                                    std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile"
      ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

#define RUNG_FLOATS8(C, i) \
  C(d[i]), C(d[i + 1]), C(d[i + 2]), C(d[i + 3]), C(d[i + 4]), C(d[i + 5]), C(d[i + 6]), C(d[i + 7])
#define RUNG_FLOATS32(C) \
  RUNG_FLOATS8(C, 0), RUNG_FLOATS8(C, 8), RUNG_FLOATS8(C, 16), RUNG_FLOATS8(C, 24)

/// tcgen05.ld.32x32b.x32: a warp starts to load 32 lanes of 32 columns; thread t receives lane t.
/// Warp w of a warpgroup reaches only lanes 32 w to 32 w + 31. Others may overwrite or release the
/// columns after tcgen05_wait_ld().
__device__ __forceinline__ void tcgen05_ld(float (&d)[32], std::uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
      : RUNG_FLOATS32("=f")
      : "r"(address)
      : "memory");
}

/// tcgen05.wait::ld: waits for the loads of this thread. The compiler must not read `d` before it.
__device__ __forceinline__ void tcgen05_wait_ld(float (&d)[32]) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" : RUNG_FLOATS32("+f")::"memory");
}

#undef RUNG_FLOATS8
#undef RUNG_FLOATS32

#endif

}  // namespace rung::ptx
