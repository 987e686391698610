#pragma once
// Copies of whole pieces of memory, by one instruction and without the threads. From sm_90.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Declared for kernel templates to name, defined nowhere.
void cp_async_bulk(std::uint32_t to, const void* from, int bytes, std::uint32_t barrier);

#else

/// cp.async.bulk.shared.global: `bytes` are on their way from global to shared memory; all three
/// are multiples of 16. The barrier, of ptx_barrier.cuh, hears of each that has come.
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
