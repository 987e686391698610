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
};

constexpr std::uint32_t bytes_of(TensorElement element) {
  switch (element) {
    case TensorElement::u8: return 1;
    case TensorElement::u16:
    case TensorElement::f16:
    case TensorElement::bf16: return 2;
    case TensorElement::u64:
    case TensorElement::s64:
    case TensorElement::f64: return 8;
    default: return 4;
  }
}

/// CUtensorMapSwizzle: permutes the chunks of a row of that many bytes. Chunks have 16 bytes, or as many as
/// the atom.
enum class TensorSwizzle : std::uint8_t {
  none,
  bytes_32,
  bytes_64,
  bytes_128,
  bytes_128_atom_32,
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
  if (swizzle == TensorSwizzle::bytes_128_atom_64) return address ^ ((address >> 7 & 1) << 6);
  const std::uint32_t chunks = span_of(swizzle) == 0 ? 1 : span_of(swizzle) / 16;
  return address ^ (((address >> 7) & (chunks - 1)) << 4);
}

struct TensorMap {
  static constexpr std::uint64_t valid_tag = 0x70614d726f736e54;  // "TnsorMap"
  static constexpr int max_dimensions = 5;

  std::uint64_t tag = 0;
  std::uint64_t address = 0;                                // in global memory
  std::array<std::uint64_t, max_dimensions - 1> strides{};  // in bytes, for dimensions 1 and up
  std::array<std::uint32_t, max_dimensions> sizes{};        // in elements, minus one
  std::array<std::uint16_t, max_dimensions> box{};          // in elements
  std::array<std::uint8_t, max_dimensions> steps{};         // element strides
  std::uint8_t dimensions = 0;
  TensorElement element = TensorElement::u8;
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool fill_nan = false;  // fills elements out of bounds with NaN instead of 0

  std::uint32_t box_bytes() const {
    std::uint32_t bytes = bytes_of(element);
    for (int i = 0; i < dimensions; ++i) bytes *= box[static_cast<std::size_t>(i)];
    return bytes;
  }
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace rung::vgpu
