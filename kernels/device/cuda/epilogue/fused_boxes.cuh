#pragma once
// Writes the results of a fused epilogue to shared memory for TMA: a warpgroup converts 64 x 64
// sums in wgmma's accumulator layout to elements of the result's type, in boxes of 64 rows of 128
// bytes with 128-byte swizzle.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/approx.cuh"
#include "device/cuda/ptx/stmatrix.cuh"
#include "device/cuda/tile/operand.cuh"

#ifndef RUNG_HOST

namespace rung::cuda {

/// Writes a whole box of 16-bit elements, four 8 x 8 matrices (2 x 2) at a time. pair(x, y) packs
/// two elements into a word.
template <class Pair>
__device__ __forceinline__ void put_matrices(std::uint32_t box, const float (&t)[8][4],
                                             const Pair& pair) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane % 16;
  const std::uint32_t begin = box + row * 128 + ((lane / 16 ^ row % 8) << 4);
  RUNG_UNROLL
  for (int j = 0; j < 8; j += 2) {
    ptx::stmatrix_x4(begin ^ j << 4, pair(t[j][0], t[j][1]), pair(t[j][2], t[j][3]),
                     pair(t[j + 1][0], t[j + 1][1]), pair(t[j + 1][2], t[j + 1][3]));
  }
}

/// Writes a whole box of bfloat16 or float16.
__device__ __forceinline__ void put_16_bits(ElementType type, std::uint32_t box,
                                            const float (&t)[8][4]) {
  if (type == ElementType::f16) {
    put_matrices(box, t,
                 [](float x, float y) RUNG_INLINE_LAMBDA { return ptx::cvt_rn_f16x2_f32(y, x); });
  } else {
    put_matrices(box, t,
                 [](float x, float y) RUNG_INLINE_LAMBDA { return ptx::cvt_rn_bf16x2_f32(y, x); });
  }
}

/// Writes results of any type, starting at the given half of a box: 1-byte results fill half a box,
/// 4-byte results two boxes. The swizzle XORs bits 4 to 6 of an address with bits 7 to 9.
__device__ __forceinline__ void put_results(ElementType type, std::uint32_t box, int half,
                                            const float (&t)[8][4]) {
  if (bytes_of(type) == 2) return put_16_bits(type, box, t);
  const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
  const std::uint32_t begin = box + row * 128;
  const int swizzle = row % 8 << 4;
  // Calls f(address, first, second) for each pair of elements of BYTES bytes.
  const auto each = [&]<int BYTES>(const auto& f) RUNG_INLINE_LAMBDA {
    RUNG_UNROLL
    for (int j = 0; j < 8; ++j) {
      const int byte = (half * 64 + j * 8 + accumulator_col()) * BYTES;
      const std::uint32_t to = begin + (byte / 128 * (64 * 128)) + (byte % 128 ^ swizzle);
      f(to, t[j][0], t[j][1]);
      f(to + 8 * 128, t[j][2], t[j][3]);
    }
  };
  switch (type) {
    case ElementType::e4m3:
      return each.template operator()<1>([](std::uint32_t to, float x, float y) RUNG_INLINE_LAMBDA {
        ptx::st_shared_u16(to, ptx::cvt_rn_satfinite_e4m3x2_f32(y, x));
      });
    case ElementType::e5m2:
      return each.template operator()<1>([](std::uint32_t to, float x, float y) RUNG_INLINE_LAMBDA {
        ptx::st_shared_u16(to, ptx::cvt_rn_satfinite_e5m2x2_f32(y, x));
      });
    default:
      return each.template operator()<4>([](std::uint32_t to, float x, float y)
                                             RUNG_INLINE_LAMBDA { ptx::st_shared_v2(to, x, y); });
  }
}

}  // namespace rung::cuda

#endif
