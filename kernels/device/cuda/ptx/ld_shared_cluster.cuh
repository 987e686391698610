#pragma once
// mapa and ld.shared::cluster: elements in the shared memory of any block of the cluster.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-mapa

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
void ld_shared_cluster(cuda::Vector<float, 2>& to, std::uint32_t from, std::uint32_t rank);

#else

/// Loads from block `rank` at the address that corresponds to `from` in this block.
__device__ __forceinline__ void ld_shared_cluster(cuda::Vector<float, 2>& to, std::uint32_t from,
                                                  std::uint32_t rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(from), "r"(rank));
  asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
               : "=f"(to.at[0]), "=f"(to.at[1])
               : "r"(remote)
               : "memory");
}

#endif

}  // namespace rung::ptx
