#pragma once
// tcgen05 for block formats: scales are copied to tensor memory, where multiplications read them.
// Requires sm_100a.

#include <cstdint>

#include "core/block_format.hpp"
#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
void tcgen05_cp_32x128b(std::uint32_t to, std::uint64_t from);
template <BlockFormat FORMAT>
void tcgen05_mma_scaled(std::uint32_t d, std::uint64_t a, std::uint64_t b, std::uint32_t form,
                        std::uint32_t scales_a, std::uint32_t scales_b, bool adds);

#else

/// tcgen05.cp.32x128b.warpx4: one thread starts to copy 32 rows of 16 bytes in shared memory to four
/// columns of tensor memory: row i to lanes i, i + 32, i + 64 and i + 96. Later multiplications of
/// the thread run after it, and it runs after earlier ones.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#tcgen05-instructions-tcgen05-cp
__device__ __forceinline__ void tcgen05_cp_32x128b(std::uint32_t to, std::uint64_t from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory");
}

/// tcgen05.mma.block_scale: one thread starts d += a b, or d = a b if not `adds`, for 32 bytes of
/// k-steps: 32 of mxfp8, which have one scale in each row of A and column of B, or 64 of nvfp4,
/// which have four. Scales are at addresses in tensor memory, and `form` names the byte of their
/// cells.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#tcgen05-mma-instructions-mma
template <BlockFormat FORMAT>
__device__ __forceinline__ void tcgen05_mma_scaled(std::uint32_t d, std::uint64_t a,
                                                   std::uint64_t b, std::uint32_t form,
                                                   std::uint32_t scales_a, std::uint32_t scales_b,
                                                   bool adds) {
#define RUNG_TCGEN05_MMA(kind)                                                   \
  asm volatile(                                                                  \
      "{\n\t"                                                                    \
      ".reg .pred adds;\n\t"                                                     \
      "setp.ne.b32 adds, %6, 0;\n\t"                                             \
      "tcgen05.mma.cta_group::1.kind::" kind                                     \
      " [%0], %1, %2, %3, [%4], [%5], adds;\n\t"                                 \
      "}" ::"r"(d),                                                              \
      "l"(a), "l"(b), "r"(form), "r"(scales_a), "r"(scales_b), "r"(adds ? 1 : 0) \
      : "memory")
  if constexpr (FORMAT == BlockFormat::mxfp8) {
    RUNG_TCGEN05_MMA("mxf8f6f4.block_scale.scale_vec::1X");
  } else {
    RUNG_TCGEN05_MMA("mxf4nvf4.block_scale.scale_vec::4X");
  }
#undef RUNG_TCGEN05_MMA
}

#endif

}  // namespace rung::ptx
