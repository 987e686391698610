#pragma once
// The layout of wgmma operands in shared memory (PTX ISA, 9.7.15.5.1, "Shared memory matrix layout"
// and "Matrix descriptor format").

#include <cstdint>

#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

/// The decoded 64 bits of a matrix descriptor. Offsets are in bytes.
struct WgmmaDescriptor {
  std::uint32_t start;
  std::uint32_t leading, stride;  // byte offsets
  std::uint32_t base;             // start of the swizzle pattern, in 128-byte lines
  TensorSwizzle swizzle;

  explicit constexpr WgmmaDescriptor(std::uint64_t bits)
      : start(field(bits, 0)),
        leading(field(bits, 16)),
        stride(field(bits, 32)),
        base(static_cast<std::uint32_t>(bits >> 49 & 7)),
        swizzle(static_cast<TensorSwizzle>((4 - (bits >> 62)) % 4)) {}

  /// The address of chunk `along` (16 bytes along k) of `line`, a row of A or a column of B, in a
  /// K-major matrix. Lines form groups of 8, `stride` bytes apart. Without a swizzle, the lines of
  /// a group are adjacent, and the next chunk along k is `leading` bytes away. With a swizzle,
  /// lines are one span apart.
  constexpr std::uint32_t along_k(std::uint32_t line, std::uint32_t along) const {
    const std::uint32_t group = start + line / 8 * stride;
    if (swizzle == TensorSwizzle::none) return group + line % 8 * 16 + along * leading;
    return place(group + line % 8 * span_of(swizzle) + along * 16);
  }

  /// The address in an MN-major matrix, whose elements are contiguous along m or n: chunk `along`
  /// along m or n, at k = `line`.
  constexpr std::uint32_t across_k(std::uint32_t line, std::uint32_t along) const {
    if (swizzle == TensorSwizzle::none) {
      return start + line % 8 * 16 + line / 8 * leading + along * stride;
    }
    const int bits = static_cast<int>(swizzle);  // a span has 2^bits chunks
    const std::uint32_t within = along & ((1u << bits) - 1);
    return place(start + line % 8 * span_of(swizzle) + line / 8 * stride + within * 16 +
                 (along >> bits) * leading);
  }

 private:
  static constexpr std::uint32_t field(std::uint64_t bits, int shift) {
    return static_cast<std::uint32_t>(bits >> shift & 0x3FFF) << 4;
  }
  /// Applies the swizzle. The pattern starts at a multiple of its size, or `base` lines before the
  /// matrix.
  constexpr std::uint32_t place(std::uint32_t address) const {
    const std::uint32_t shift = base << 7;
    return swizzled(address - shift, swizzle) + shift;
  }
};

/// Bytes of the pieces in which operands are read: eight of their rows form a core matrix.
inline constexpr std::uint32_t operand_chunk = 16;

/// An operand in shared memory: rows of A or columns of B from `first` on, by k elements.
struct WgmmaOperand {
  WgmmaDescriptor descriptor;
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
