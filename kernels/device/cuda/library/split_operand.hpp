#pragma once
// The parameter of the kernel in split_operand.cu, and the layout of its result: float16 matrices
// of the high and low halves of scaled floats.

#include <cstdint>

#include "core/integers.hpp"

namespace rung::cuda {

/// The scale of a row of A or a column of B.
struct OperandScale {
  /// An element is the sum of its halves times 2^exponent. The largest element of the row or column
  /// is scaled to [2^14, 2^15).
  int exponent;
  /// The Euclidean norm of the rounding errors of scaled elements, over those that lose more than
  /// 2^-23 of their value because their low half is subnormal. Infinite if an element is infinite,
  /// and NaN if an element is NaN; then all halves are 0.
  float loss;
  float norm;   // norm of the scaled elements; 1 if one is not finite
  float large;  // number of scaled elements >= 2^10 in magnitude
};

struct SplitOperand {
  static constexpr int threads = 512;
  /// A row of the result holds 64 high halves, the 64 low halves of the same elements, and so on,
  /// padded with zeros to a multiple of 64 elements. TMA thus reads both from the same L2 lines.
  static constexpr int chunk = 64;
  /// Columns per block if an operand is scaled by columns; otherwise a block has whole rows. More
  /// columns mean fewer blocks, so that a small operand would leave SMs idle. Fewer columns would
  /// write less than a sector (32 bytes) of each row.
  static constexpr int columns = 16;

  const float* from;
  void* to;                                // rows of float16
  OperandScale* scales;                    // one per row, or one per column
  std::int64_t row_length, rows, from_ld;  // rows are contiguous
  bool is_scaled_by_row;

  static constexpr std::int64_t halves_in_row(std::int64_t row_length) {
    return 2 * round_up(row_length, std::int64_t{chunk});
  }
};

/// The kernel's parameter: both operands of a product. The first blocks split the first operand.
struct SplitOperands {
  SplitOperand first = {}, second = {};
  unsigned blocks_of_first = 0;
};

}  // namespace rung::cuda
