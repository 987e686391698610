#pragma once
// The parameter of the kernel in pack_operand.cu.

#include <cstdint>

namespace rung::cuda {

struct PackOperand {
  static constexpr int threads = 256;

  const void* from;
  void* to;
  std::int64_t row_length, rows;  // of the copy; the length is in elements
  std::int64_t from_ld, to_ld;
  int element_bytes;     // 1, 2 or 4; 8 for words of several elements, if rows remain rows
  bool from_transposed;  // rows of the copy are columns of the operand; not for 2 bytes
  /// The number of operands in a batch and their stride in elements. Copies are contiguous.
  std::int64_t products = 1, from_product_stride = 0;

  /// The size of the tiles that a block transposes.
  static constexpr int tile = 64;
};

}  // namespace rung::cuda
