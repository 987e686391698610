#pragma once
// CUtensorMap in the virtual GPU's encoding: a tensor in global memory, and the box that one bulk
// copy transfers (PTX ISA, 5.5, "Tensors"; CUDA Driver API, "Tensor Map Object Management"). The
// hardware's encoding is not public, so a map is valid only on the device that encoded it.

#include <array>
#include <cstddef>
#include <cstdint>

namespace rung::vgpu {

/// CUtensorMapDataType.
enum class TensorElement : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_flushed,  // FLOAT32_FTZ: subnormals become 0
  tf32,         // rounded to tf32 when copied
  tf32_flushed,
  u4,         // 16U4_ALIGN8B: packed in shared memory, too
  u4_padded,  // 16U4_ALIGN16B: in shared memory, 8 bytes of every 16 hold 16 elements
  u6_padded,  // 16U6_ALIGN16B: 12 bytes of every 16
};

constexpr std::uint32_t bits_of(TensorElement element) {
  switch (element) {
    case TensorElement::u4:
    case TensorElement::u4_padded: return 4;
    case TensorElement::u6_padded: return 6;
    case TensorElement::u8: return 8;
    case TensorElement::u16:
    case TensorElement::f16:
    case TensorElement::bf16: return 16;
    case TensorElement::u64:
    case TensorElement::s64:
    case TensorElement::f64: return 64;
    default: return 32;
  }
}

/// True if 16 elements have 16 bytes of shared memory, where a copy leaves the last 8 or 4 bytes unused (CUDA Driver
/// API, cuTensorMapEncodeTiled).
constexpr bool is_padded(TensorElement element) {
  return element == TensorElement::u4_padded || element == TensorElement::u6_padded;
}

/// Bytes of consecutive elements in global memory, where those of 4 and 6 bits are packed.
constexpr std::uint32_t bytes_of(TensorElement element, std::uint32_t count) {
  return count * bits_of(element) / 8;
}
/// The same in shared memory.
constexpr std::uint32_t shared_bytes_of(TensorElement element, std::uint32_t count) {
  return is_padded(element) ? count : bytes_of(element, count);
}

/// CUtensorMapSwizzle: permutes the chunks of a row of that many bytes. Chunks have 16 bytes, or as many as
/// the atom.
enum class TensorSwizzle : std::uint8_t {
  none,
  bytes_32,
  bytes_64,
  bytes_128,
  bytes_128_atom_32,
  bytes_128_atom_32_flip_8,  // also swaps the halves of each 16 bytes in every other line of 128 bytes
  bytes_128_atom_64
};

/// The number of bytes of a box row in shared memory that the pattern spans; 0 for `none`.
constexpr std::uint32_t span_of(TensorSwizzle swizzle) {
  if (swizzle == TensorSwizzle::none) return 0;
  return swizzle >= TensorSwizzle::bytes_128 ? 128 : 16u << static_cast<int>(swizzle);
}

/// The swizzled offset of a byte in shared memory: address bits 4 to 6 are XORed with bits 7 to 9,
/// as many as needed for the chunks of a span (PTX ISA, 5.5.7, "Swizzling modes").
constexpr std::uint32_t swizzled(std::uint32_t address, TensorSwizzle swizzle) {
  // Address bits 5 and 6, or 6 alone, with as many bits from 7 on.
  if (swizzle == TensorSwizzle::bytes_128_atom_32) return address ^ ((address >> 7 & 3) << 5);
  if (swizzle == TensorSwizzle::bytes_128_atom_32_flip_8) {
    return address ^ ((address >> 7 & 3) << 5) ^ ((address >> 7 & 1) << 3);
  }
  if (swizzle == TensorSwizzle::bytes_128_atom_64) return address ^ ((address >> 7 & 1) << 6);
  const std::uint32_t chunks = span_of(swizzle) == 0 ? 1 : span_of(swizzle) / 16;
  return address ^ (((address >> 7) & (chunks - 1)) << 4);
}

/// How copies take elements: a box, or a column of pixels (PTX ISA, 5.5.3 to 5.5.5).
enum class TensorMode : std::uint8_t { tiled, im2col, im2col_w, im2col_w_128 };
inline constexpr std::uint32_t pixels_of_w_128 = 128;

struct TensorMap {
  static constexpr std::uint64_t valid_tag = 0x70614d726f736e54;  // "TnsorMap"
  static constexpr int max_dimensions = 5, max_spatial = 3;

  std::uint64_t tag = 0;
  std::uint64_t address = 0;                                // in global memory
  std::array<std::uint64_t, max_dimensions - 1> strides{};  // in bytes, for dimensions 1 and up
  std::array<std::uint32_t, max_dimensions> sizes{};        // in elements, minus one
  // In elements. A column of pixels has box[0] channels of box[1] pixels, and 1 in the other dimensions.
  std::array<std::uint16_t, max_dimensions> box{};
  std::array<std::uint8_t, max_dimensions> steps{};  // element strides
  std::uint8_t dimensions = 0;
  TensorElement element = TensorElement::u8;
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool fill_nan = false;  // fills elements out of bounds with NaN instead of 0
  TensorMode mode = TensorMode::tiled;
  // Bounding box of the first pixel that a filter reads, for dimensions 1 and up (W, H, D): from `lower` to the
  // tensor's last pixel plus `upper`.
  std::array<std::int16_t, max_spatial> lower{}, upper{};

  /// Bytes that a copy of the box signals to its mbarrier: without the padding of elements of 4 and 6 bits.
  std::uint32_t box_bytes() const {
    std::uint32_t bytes = bytes_of(element, box[0]);
    for (int i = 1; i < dimensions; ++i) bytes *= box[static_cast<std::size_t>(i)];
    return bytes;
  }
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace rung::vgpu
