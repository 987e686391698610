#pragma once
// ld.shared.{v2,v4}: adjacent elements, aligned to their total size. Functions, because clang
// splits a vector load if two branches load different vectors.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

__device__ __forceinline__ void ld_shared(cuda::Vector<float, 2>& to, std::uint32_t from) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(to.at[0]), "=f"(to.at[1])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void ld_shared(cuda::Vector<float, 4>& to, std::uint32_t from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to.at[0]), "=f"(to.at[1]), "=f"(to.at[2]), "=f"(to.at[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void ld_shared(cuda::Vector<double, 2>& to, std::uint32_t from) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];"
               : "=d"(to.at[0]), "=d"(to.at[1])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void ld_shared(cuda::Vector<std::uint32_t, 4>& to, std::uint32_t from) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.at[0]), "=r"(to.at[1]), "=r"(to.at[2]), "=r"(to.at[3])
               : "r"(from)
               : "memory");
}

}  // namespace rung::ptx

#else

// Only declared for kernel templates; the host never calls them.
namespace rung::ptx {
template <class T, int N>
void ld_shared(cuda::Vector<T, N>& to, std::uint32_t from);
}  // namespace rung::ptx

#endif
