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
void add_shared_cluster(float (&sums)[4], std::uint32_t from, std::uint32_t rank);
std::uint32_t cluster_nctarank();

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

/// Adds the four elements in block `rank` at the address that corresponds to `from` in this block.
__device__ __forceinline__ void add_shared_cluster(float (&sums)[4], std::uint32_t from,
                                                   std::uint32_t rank) {
  std::uint32_t remote;
  float terms[4];
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(from), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(terms[0]), "=f"(terms[1]), "=f"(terms[2]), "=f"(terms[3])
               : "r"(remote)
               : "memory");
  RUNG_UNROLL
  for (int i = 0; i < 4; ++i) sums[i] += terms[i];
}

/// %cluster_nctarank: the number of blocks of this cluster.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#special-registers-cluster-nctarank
__device__ __forceinline__ std::uint32_t cluster_nctarank() {
  std::uint32_t blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

#endif

}  // namespace rung::ptx
