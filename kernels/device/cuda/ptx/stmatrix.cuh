#pragma once
// stmatrix: stores 8 x 8 matrices of 16-bit elements, in the accumulator layout of mma and wgmma,
// to shared memory.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
void stmatrix_x2_transposed(std::uint32_t to, std::uint32_t first, std::uint32_t second);

#else

/// stmatrix.m8n8.x4: lane l holds columns 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each of four
/// matrices, and provides the address of row l % 8 of matrix l / 8. Requires sm_90.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-stmatrix
__device__ __forceinline__ void stmatrix_x4(std::uint32_t to, std::uint32_t first,
                                            std::uint32_t second, std::uint32_t third,
                                            std::uint32_t fourth) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(first), "r"(second), "r"(third), "r"(fourth)
               : "memory");
}

/// stmatrix.m8n8.x2.trans: as above, for two matrices that are transposed: lane l < 16 provides the
/// address of row l % 8 of the transpose of matrix l / 8.
__device__ __forceinline__ void stmatrix_x2_transposed(std::uint32_t to, std::uint32_t first,
                                                       std::uint32_t second) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to),
               "r"(first), "r"(second)
               : "memory");
}

#endif

}  // namespace rung::ptx
