#pragma once
// The layout of matrices in shared memory that wgmma and tcgen05 read through 64-bit descriptors (PTX ISA,
// 9.7.15.5.1 "Shared memory matrix layout", 9.7.16.4 "Matrix descriptors" and 9.7.16.10.6 "Shared memory
// layout and swizzling").

#include <cstdint>

#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

/// A decoded matrix descriptor. Offsets are in bytes.
struct MatrixDescriptor {
  std::uint32_t start = 0;
  std::uint32_t leading = 0, stride = 0;  // byte offsets
  std::uint32_t base = 0;                 // start of the swizzle pattern, in 128-byte lines
  TensorSwizzle swizzle = TensorSwizzle::none;
  // `leading` is the address of the chunks that follow the end of the 128 bytes of a swizzled line: 48 bytes of k cross
  // it (PTX ISA, 9.7.16.3.1.2, "Absolute address mode for K dimension being 48B").
  bool leading_is_address = false;

  /// The address of chunk `along` (16 bytes along k) of `line`, a row of A or a column of B, in a
  /// K-major matrix. Lines form groups of 8, `stride` bytes apart. Without a swizzle, the lines of
  /// a group are adjacent, and the next chunk along k is `leading` bytes away. With a swizzle,
  /// lines are one span apart.
  constexpr std::uint32_t along_k(std::uint32_t line, std::uint32_t along) const {
    const std::uint32_t group = start + line / 8 * stride;
    if (swizzle == TensorSwizzle::none) return group + line % 8 * 16 + along * leading;
    if (const std::uint32_t left = (span_of(swizzle) - start % span_of(swizzle)) / 16;
        leading_is_address && along >= left) {
      return place(leading + line / 8 * stride + line % 8 * span_of(swizzle) + (along - left) * 16);
    }
    return place(group + line % 8 * span_of(swizzle) + along * 16);
  }

  /// The address in an MN-major matrix, whose elements are contiguous along m or n: chunk `along`
  /// along m or n, at k = `line`.
  constexpr std::uint32_t across_k(std::uint32_t line, std::uint32_t along) const {
    if (swizzle == TensorSwizzle::none) {
      return start + line % 8 * 16 + line / 8 * leading + along * stride;
    }
    const std::uint32_t chunks = span_of(swizzle) / 16;
    // Atoms of 32 bytes repeat after four lines (PTX ISA, 9.7.16.10.6, Table "Layout for swizzle atoms").
    const std::uint32_t lines = swizzle == TensorSwizzle::bytes_128_atom_32 ? 4 : 8;
    return place(start + line % lines * span_of(swizzle) + line / lines * stride +
                 along % chunks * 16 + along / chunks * leading);
  }

 private:
  /// Applies the swizzle. The pattern starts at a multiple of its size, or `base` lines before the
  /// matrix.
  constexpr std::uint32_t place(std::uint32_t address) const {
    const std::uint32_t shift = base << 7;
    return swizzled(address - shift, swizzle) + shift;
  }
};

/// 14 bits from `shift` on, in units of 16 bytes.
constexpr std::uint32_t descriptor_field(std::uint64_t bits, int shift) {
  return static_cast<std::uint32_t>(bits >> shift & 0x3FFF) << 4;
}

/// The descriptor of a wgmma (PTX ISA, 9.7.15.5.1.2.2, "Matrix Descriptor Format").
constexpr MatrixDescriptor wgmma_descriptor(std::uint64_t bits) {
  return {descriptor_field(bits, 0), descriptor_field(bits, 16), descriptor_field(bits, 32),
          static_cast<std::uint32_t>(bits >> 49 & 7),
          static_cast<TensorSwizzle>((4 - (bits >> 62)) % 4)};
}

/// The value of bits 46 to 48 in descriptors of tcgen05.
inline constexpr std::uint64_t tcgen05_descriptor_version = 1;

/// The descriptor of a tcgen05 instruction (PTX ISA, 9.7.16.4.1, "Shared memory descriptor"). `known` becomes
/// false if the swizzle mode or the constant bits are not among those that exist.
constexpr MatrixDescriptor tcgen05_descriptor(std::uint64_t bits, bool& known) {
  constexpr TensorSwizzle modes[] = {TensorSwizzle::none,      TensorSwizzle::bytes_128_atom_32,
                                     TensorSwizzle::bytes_128, TensorSwizzle::none,
                                     TensorSwizzle::bytes_64,  TensorSwizzle::none,
                                     TensorSwizzle::bytes_32,  TensorSwizzle::none};
  const auto mode = static_cast<std::size_t>(bits >> 61);
  known = (bits >> 46 & 7) == tcgen05_descriptor_version && (mode <= 2 || mode == 4 || mode == 6);
  return {descriptor_field(bits, 0),
          descriptor_field(bits, 16),
          descriptor_field(bits, 32),
          static_cast<std::uint32_t>(bits >> 49 & 7),
          modes[mode],
          (bits >> 52 & 1) != 0};
}

/// Bytes of the pieces in which operands are read: eight of their rows form a core matrix.
inline constexpr std::uint32_t operand_chunk = 16;

/// An operand in shared memory: rows of A or columns of B from `first` on, by k elements.
struct MatrixOperand {
  MatrixDescriptor descriptor;
  int element_bits;
  bool transposed;  // MN-major: elements are contiguous along m or n
  std::uint32_t first, lines;
  int k;

  int per_chunk() const { return static_cast<int>(operand_chunk) * 8 / element_bits; }
  /// Calls f(address, line, k) for each chunk that the instruction reads. The elements of a chunk
  /// are consecutive along k or, if transposed, along the lines.
  template <class F>
  void for_each_chunk(const F& f) const {
    const auto step = static_cast<std::uint32_t>(per_chunk());
    const auto depth = static_cast<std::uint32_t>(k);
    if (transposed) {
      for (std::uint32_t at = 0; at < depth; ++at) {
        for (std::uint32_t line = first; line < first + lines; line += step) {
          f(descriptor.across_k(at, line / step), line, at);
        }
      }
    } else {
      for (std::uint32_t line = first; line < first + lines; ++line) {
        for (std::uint32_t at = 0; at < depth; at += step) {
          f(descriptor.along_k(line, at / step), line, at);
        }
      }
    }
  }
};

}  // namespace rung::vgpu
