#pragma once
// Block scales of 8-bit operands, shared by kernels and the host.

#include <cstdint>

namespace rung {

/// One scale for each `steps` elements of a row of A, and one for each `steps` x `cols` elements of
/// B. Strides are in elements.
struct BlockScales {
  static constexpr int steps = 128;
  static constexpr int cols = 128;

  const float* a = nullptr;  // row i, k-block s: a[i a_row + s a_step]; null: all 1
  std::int64_t a_row = 0, a_step = 0;
  const float* b =
      nullptr;  // of block s, columns 128 j on, group g: b[s b_step + j b_col + g b_group]
  std::int64_t b_step = 0, b_col = 0, b_group = 0;
  /// If true, C has bfloat16 elements, regardless of the problem's type.
  bool to_bf16 = false;
};

}  // namespace rung
