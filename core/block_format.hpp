#pragma once
// Formats in which blocks of elements that are adjacent along k share a scale, so that an element
// takes 8 or 4 bits. Shared by kernels and the host.

#include <cstdint>

namespace rung {

enum class BlockFormat : std::uint8_t {
  none,
  /// 32 elements of e4m3 and a power of two in 8 bits, e8m0 (OCP Microscaling Formats 1.0, 6.1).
  mxfp8,
  /// 16 elements of e2m1, a float of 4 bits, and a scale of e4m3 (PTX ISA, "Packed format", and
  /// NVIDIA, "Pretraining Large Language Models with NVFP4", arXiv:2509.25149, 2).
  nvfp4
};

constexpr int elements_of_block(BlockFormat format) {
  return format == BlockFormat::nvfp4 ? 16 : 32;
}
constexpr int bits_of_element(BlockFormat format) { return format == BlockFormat::nvfp4 ? 4 : 8; }

}  // namespace rung
