#pragma once
// The argument of the kernel of split_operand.cu, and what it makes of an operand of floats: two
// matrices of float16, the high and the low halves of its scaled elements.

#include <cstdint>

#include "core/integers.hpp"

namespace rung::cuda {

/// Of a row of A or a column of B.
struct OperandScale {
  /// An element is the sum of its halves times 2^exponent. The largest of the row or column is
  /// scaled to [2^14, 2^15).
  int exponent;
  /// The Euclidean norm of what scaled elements lose, of those that lose more than 2^-23 of
  /// themselves because they are so much smaller than the largest one that their low half is
  /// subnormal. Infinite if an element is, NaN if an element is NaN; then all halves are 0.
  float loss;
  float norm;   // of the scaled elements; 1 if one is not finite
  float large;  // how many of the scaled elements are at least 2^10 in magnitude
};

struct SplitOperand {
  static constexpr int threads = 512;
  /// A row of the result has 64 high halves, the 64 low ones of the same elements, and so on, with
  /// zeros up to a multiple of 64 elements. So TMA reads both from the same lines of L2.
  static constexpr int chunk = 64;
  /// Columns of a block, where an operand is scaled by columns; otherwise a block has whole rows.
  /// More columns would be fewer blocks, and a small operand would leave SMs idle. Fewer than these would
  /// write less than 32 bytes, a sector, of each row.
  static constexpr int columns = 16;

  const float* from;
  void* to;                                // rows of float16
  OperandScale* scales;                    // one for each row, or for each column
  std::int64_t row_length, rows, from_ld;  // a row is contiguous
  bool is_scaled_by_row;

  static constexpr std::int64_t halves_in_row(std::int64_t row_length) {
    return 2 * round_up(row_length, std::int64_t{chunk});
  }
};

/// The argument: the operands of a product in one launch, whose first blocks split the first one.
struct SplitOperands {
  SplitOperand first = {}, second = {};
  unsigned blocks_of_first = 0;
};

}  // namespace rung::cuda
