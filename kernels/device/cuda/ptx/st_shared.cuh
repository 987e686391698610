#pragma once
// st.shared.{v2,v4}: adjacent elements, aligned to their total size. A function, because clang
// splits a vector store if another branch stores the same elements one by one.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/types.cuh"

#ifndef RUNG_HOST

namespace rung::ptx {

/// Stores 8 or 16 bytes.
template <class T, int N>
__device__ __forceinline__ void st_shared(std::uint32_t to, const cuda::Vector<T, N>& vector) {
  static_assert(sizeof vector == 8 || sizeof vector == 16);
  std::uint32_t words[sizeof vector / 4];
  __builtin_memcpy(words, &vector, sizeof vector);
  if constexpr (sizeof vector == 16) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]),
                 "r"(words[2]), "r"(words[3])
                 : "memory");
  } else {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(words[0]), "r"(words[1])
                 : "memory");
  }
}

}  // namespace rung::ptx

#else

// Only declared for kernel templates; the host never calls it.
namespace rung::ptx {
template <class T, int N>
void st_shared(std::uint32_t to, const cuda::Vector<T, N>& vector);
}  // namespace rung::ptx

#endif
