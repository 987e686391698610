#pragma once
// The argument of the kernel of pack_operand.cu.

#include <cstdint>

namespace rung::cuda {

struct PackOperand {
  static constexpr int threads = 256;

  const void* from;
  void* to;
  std::int64_t row_length, rows;  // of the copy; the length in elements
  std::int64_t from_ld, to_ld;
  int element_bytes;     // 1, 2 or 4; 8, of several elements, where rows stay rows
  bool from_transposed;  // a row of the copy is a column of the operand; not for 2 bytes
  /// Of a batch: so many operands, the stride in elements apart. Copies follow each other.
  std::int64_t products = 1, from_product_stride = 0;

  /// Rows and columns of the tiles that a block transposes.
  static constexpr int tile = 64;
};

}  // namespace rung::cuda
