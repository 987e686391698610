#pragma once
// Kernels that compute one fragment per warp (mma, 16 x 8) or warpgroup (wgmma, 64 x 8).

#include <cstdint>

#include "vgpu/tests/tensor_cores/cases.hpp"

namespace rung::tensor_cores {

// Operands in PTX syntax: D and C with four floats, or with two registers of two halves each.
#define RUNG_FLOATS "{%0, %1, %2, %3}"
#define RUNG_A4_FLOATS "{%4, %5, %6, %7}"

#define RUNG_MMA(Name, mnemonic)                                                          \
  struct Name {                                                                           \
    using Sums = float[4];                                                                \
    static __device__ void run(Sums& d, const std::uint32_t* a, const std::uint32_t* b) { \
      asm volatile("mma.sync.aligned." mnemonic " " RUNG_FLOATS ", " RUNG_A4_FLOATS       \
                   ", {%8, %9}, " RUNG_FLOATS ";"                                         \
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                       \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));   \
    }                                                                                     \
  };
#define RUNG_SHORT_MMA(Name, mnemonic)                                                           \
  struct Name {                                                                                  \
    using Sums = float[4];                                                                       \
    static __device__ void run(Sums& d, const std::uint32_t* a, const std::uint32_t* b) {        \
      asm volatile("mma.sync.aligned." mnemonic " " RUNG_FLOATS ", {%4, %5}, {%6}, " RUNG_FLOATS \
                   ";"                                                                           \
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                              \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                           \
    }                                                                                            \
  };
#define RUNG_HALF_MMA(Name, mnemonic)                                                     \
  struct Name {                                                                           \
    using Sums = std::uint32_t[2];                                                        \
    static __device__ void run(Sums& d, const std::uint32_t* a, const std::uint32_t* b) { \
      asm volatile("mma.sync.aligned." mnemonic                                           \
                   " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "                              \
                   "{%0, %1};"                                                            \
                   : "+r"(d[0]), "+r"(d[1])                                               \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));   \
    }                                                                                     \
  };
#define RUNG_WGMMA_BEFORE "wgmma.fence.sync.aligned;\n\twgmma.mma_async.sync.aligned."
#define RUNG_WGMMA_AFTER ";\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;"
#define RUNG_WGMMA(Name, mnemonic, more)                                            \
  struct Name {                                                                     \
    using Sums = float[4];                                                          \
    static __device__ void run(Sums& d, const std::uint32_t* a, std::uint64_t b) {  \
      asm volatile(RUNG_WGMMA_BEFORE mnemonic " " RUNG_FLOATS ", " RUNG_A4_FLOATS   \
                                              ", %8, 1, 1, 1" more RUNG_WGMMA_AFTER \
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                 \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)             \
                   : "memory");                                                     \
    }                                                                               \
  };
#define RUNG_HALF_WGMMA(Name, mnemonic, more)                                       \
  struct Name {                                                                     \
    using Sums = std::uint32_t[2];                                                  \
    static __device__ void run(Sums& d, const std::uint32_t* a, std::uint64_t b) {  \
      asm volatile(RUNG_WGMMA_BEFORE mnemonic                                       \
                   " {%0, %1}, {%2, %3, %4, %5}, %6, 1, 1, 1" more RUNG_WGMMA_AFTER \
                   : "+r"(d[0]), "+r"(d[1])                                         \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)             \
                   : "memory");                                                     \
    }                                                                               \
  };

RUNG_MMA(MmaF16, "m16n8k16.row.col.f32.f16.f16.f32")
RUNG_SHORT_MMA(MmaF16K8, "m16n8k8.row.col.f32.f16.f16.f32")
RUNG_MMA(MmaBf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
RUNG_MMA(MmaTf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
RUNG_SHORT_MMA(MmaTf32K4, "m16n8k4.row.col.f32.tf32.tf32.f32")
RUNG_MMA(MmaE4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
RUNG_MMA(MmaE5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32")
RUNG_HALF_MMA(MmaF16Half, "m16n8k16.row.col.f16.f16.f16.f16")
RUNG_WGMMA(WgmmaF16, "m64n8k16.f32.f16.f16", ", 0")
RUNG_WGMMA(WgmmaBf16, "m64n8k16.f32.bf16.bf16", ", 0")
RUNG_WGMMA(WgmmaTf32, "m64n8k8.f32.tf32.tf32", "")
RUNG_WGMMA(WgmmaE4m3, "m64n8k32.f32.e4m3.e4m3", "")
RUNG_WGMMA(WgmmaE5m2, "m64n8k32.f32.e5m2.e5m2", "")
RUNG_HALF_WGMMA(WgmmaF16Half, "m64n8k16.f16.f16.f16", ", 0")
RUNG_HALF_WGMMA(WgmmaE4m3Half, "m64n8k32.f16.e4m3.e4m3", "")
RUNG_HALF_WGMMA(WgmmaE5m2Half, "m64n8k32.f16.e5m2.e5m2", "")

// For every type, lane 4 g + t holds words t and t + 4 of rows g and g + 8 of A and of column g of
// B, and columns 2 t and 2 t + 1 of rows g and g + 8 of C.

__device__ inline void load_c(std::uint64_t fragment, int row, int col, float (&d)[4]) {
  for (int i = 0; i < 4; ++i) {
    d[i] = __uint_as_float(element_of_c(false, fragment, row + i / 2 * 8, col + i % 2));
  }
}
__device__ inline void load_c(std::uint64_t fragment, int row, int col, std::uint32_t (&d)[2]) {
  for (int i = 0; i < 2; ++i) {
    d[i] = element_of_c(true, fragment, row + i * 8, col) |
           element_of_c(true, fragment, row + i * 8, col + 1) << 16;
  }
}
__device__ inline void store_d(std::uint32_t* to, int row, int col, const float (&d)[4]) {
  for (int i = 0; i < 4; ++i) to[(row + i / 2 * 8) * 8 + col + i % 2] = __float_as_uint(d[i]);
}
__device__ inline void store_d(std::uint32_t* to, int row, int col, const std::uint32_t (&d)[2]) {
  for (int i = 0; i < 2; ++i) {
    to[(row + i * 8) * 8 + col] = d[i] & 0xFFFF;
    to[(row + i * 8) * 8 + col + 1] = d[i] >> 16;
  }
}

template <class Op, Type T, int WORDS>
__global__ void mma_kernel(std::uint64_t first, std::uint64_t count, std::uint32_t* results) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, deep = WORDS * per_word(T);
  const std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (i >= count) return;
  std::uint32_t a[4] = {}, b[2] = {};
  for (int r = 0; r < WORDS / 2; ++r) {
    a[r] = word_of(T, first + i, 0, g + r % 2 * 8, t + r / 2 * 4, deep);
  }
  for (int r = 0; r < WORDS / 4; ++r) b[r] = word_of(T, first + i, 1, g, t + r * 4, deep);
  typename Op::Sums d;
  load_c(first + i, g, 2 * t, d);
  Op::run(d, a, b);
  store_d(results + i * 16 * 8, g, 2 * t, d);
}

/// B is in shared memory, K-major without swizzle: twice eight rows of 16 bytes.
template <class Op, Type T>
__global__ void __launch_bounds__(128) wgmma_kernel(std::uint64_t first, std::uint32_t* results) {
  __shared__ __align__(128) std::uint32_t tile[2][8][4];
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, top = threadIdx.x / 32 * 16;
  const int deep = 8 * per_word(T);
  const std::uint64_t fragment = first + blockIdx.x;
  if (threadIdx.x < 64) {
    const int col = threadIdx.x / 8, word = threadIdx.x % 8;
    tile[word / 4][col][word % 4] = word_of(T, fragment, 1, col, word, deep);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  std::uint32_t a[4];
  for (int r = 0; r < 4; ++r) {
    a[r] = word_of(T, fragment, 0, top + g + r % 2 * 8, t + r / 2 * 4, deep);
  }
  typename Op::Sums d;
  load_c(fragment, top + g, 2 * t, d);
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(&tile[0][0][0]));
  constexpr std::uint64_t next_eight_rows = 128 / 16;
  Op::run(d, a, at >> 4 | next_eight_rows << 16 | next_eight_rows << 32);
  store_d(results + std::uint64_t{blockIdx.x} * 64 * 8, top + g, 2 * t, d);
}

template <class Op, Type T, int WORDS>
void launch_mma(std::uint64_t first, std::uint64_t count, std::uint32_t* results) {
  mma_kernel<Op, T, WORDS><<<static_cast<unsigned>((count + 3) / 4), 128>>>(first, count, results);
}
template <class Op, Type T>
void launch_wgmma(std::uint64_t first, std::uint64_t count, std::uint32_t* results) {
  wgmma_kernel<Op, T><<<static_cast<unsigned>(count), 128>>>(first, results);
}

}  // namespace rung::tensor_cores
