// Rounds a bfloat16 operand to a block format for tensor cores of sm_100a: a thread reads a block of
// elements along k, and writes its scale and its elements of 8 or 4 bits. Registered like a rung,
// but not on the ladder.
// needs: sm_100a

#include "device/cuda/library/quantize_operand.hpp"

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/ptx/narrow_floats.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_quantize_operand = {
    .entry = "gemm_cuda_library_quantize_operand", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

/// A scale as it is stored, and the elements' divisor.
struct BlockScale {
  unsigned bits;
  float value;  // 0 if all elements are 0
};

/// The smallest power of two s with largest <= 448 s = 1.75 * 2^8 s, by the bits of a float.
__device__ __forceinline__ BlockScale power_of_two(float largest) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, largest);
  const int exponent = static_cast<int>(bits >> 23) - 8 + ((bits & 0x7FFFFF) > 0x600000 ? 1 : 0);
  if (exponent <= 0) return {0, ptx::mov_f32_b32(0x00400000)};  // 2^-127, a subnormal number
  return {static_cast<unsigned>(exponent),
          ptx::mov_f32_b32(static_cast<std::uint32_t>(exponent) << 23)};
}

/// largest / 6 as e4m3, so that the largest element becomes 6, the largest e2m1.
__device__ __forceinline__ BlockScale part_of_largest(float largest) {
  const unsigned bits = ptx::cvt_rn_satfinite_e4m3_f32(largest / 6.0f);
  return {bits, ptx::cvt_f32_e4m3(bits)};
}

/// Quantizes the elements of a block, and writes its scale.
template <int COUNT, bool IS_4_BITS>
__device__ __forceinline__ void quantize_block(const float (&x)[COUNT], std::uint8_t* scale,
                                               std::uint32_t* to) {
  float largest = 0;
  bool is_finite = true;
  RUNG_UNROLL
  for (int i = 0; i < COUNT; ++i) {
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x[i]) & 0x7FFFFFFF;
    is_finite = is_finite && bits < 0x7F800000;
    const float size = ptx::mov_f32_b32(bits);
    largest = size > largest ? size : largest;
  }
  BlockScale made = IS_4_BITS ? part_of_largest(largest) : power_of_two(largest);
  if (!is_finite) made = {IS_4_BITS ? 0x7Fu : 0xFFu, 0.0f};  // NaN
  *scale = static_cast<std::uint8_t>(made.bits);
  constexpr int of_word = IS_4_BITS ? 8 : 4;
  RUNG_UNROLL
  for (int first = 0; first < COUNT; first += of_word) {
    std::uint32_t word = 0;
    RUNG_UNROLL
    for (int i = 0; i < of_word; i += 2) {
      const float low = made.value == 0 ? 0 : x[first + i] / made.value;
      const float high = made.value == 0 ? 0 : x[first + i + 1] / made.value;
      if constexpr (IS_4_BITS) {
        word |= ptx::cvt_rn_satfinite_e2m1x2_f32(high, low) << (4 * i);
      } else {
        word |= ptx::cvt_rn_satfinite_e4m3x2_f32(high, low) << (8 * i);
      }
    }
    to[first / of_word] = word;
  }
}

/// Each thread quantizes blocks of the operand, with zeros outside of it.
template <BlockFormat FORMAT>
__device__ __forceinline__ void quantize(const QuantizeOperand& operand) {
  constexpr int COUNT = elements_of_block(FORMAT);
  const std::int64_t blocks = ScaleTile::padded(FORMAT, operand.row_length) / COUNT;
  const std::int64_t rows = round_up(operand.rows, std::int64_t{ScaleTile::rows});
  const auto* const from = static_cast<const bfloat16*>(operand.from);
  for (std::int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * blocks;
       i += gridDim.x * blockDim.x) {
    const std::int64_t row = i / blocks, block = i % blocks;
    float x[COUNT];
    RUNG_UNROLL
    for (int j = 0; j < COUNT; ++j) {
      const std::int64_t k = block * COUNT + j;
      const bool is_inside = row < operand.rows && k < operand.row_length;
      x[j] =
          is_inside ? static_cast<float>(from[row * operand.from_row + k * operand.from_k]) : 0.0f;
    }
    const std::int64_t in_tile = row % ScaleTile::rows;
    auto* const scale = static_cast<std::uint8_t*>(operand.scales) +
                        ScaleTile::offset(FORMAT, operand.row_length, row, block * COUNT) +
                        in_tile % 32 * 16 + in_tile / 32 * ScaleTile::blocks +
                        block % ScaleTile::blocks;
    std::uint32_t words[COUNT * bits_of_element(FORMAT) / 32];
    quantize_block<COUNT, FORMAT == BlockFormat::nvfp4>(x, scale, words);
    if (row >= operand.rows) continue;
    auto* const to = static_cast<std::uint32_t*>(operand.to) +
                     row * QuantizeOperand::bytes_in_row(FORMAT, operand.row_length) / 4 +
                     block * static_cast<std::int64_t>(sizeof words / 4);
    RUNG_UNROLL
    for (unsigned word = 0; word < sizeof words / 4; ++word) to[word] = words[word];
  }
}

}  // namespace rung::cuda

extern "C" __global__ void __launch_bounds__(rung::cuda::QuantizeOperand::threads)
    gemm_cuda_library_quantize_operand_bf16(rung::cuda::QuantizeOperand operand) {
  using rung::BlockFormat;
  if (operand.format == BlockFormat::nvfp4) {
    rung::cuda::quantize<BlockFormat::nvfp4>(operand);
  } else {
    rung::cuda::quantize<BlockFormat::mxfp8>(operand);
  }
}

#endif
