#pragma once
// The parameter of the kernel in split_digits.cu, and the layout of its result: rows of 8-bit
// digits of a K-major float operand.

#include <cstdint>

#include "core/digits.hpp"
#include "core/integers.hpp"
#include "device/cuda/library/split_operand.hpp"

namespace rung::cuda {

struct SplitDigits {
  static constexpr int threads = 256;
  /// A row of the result holds the first digits of 128 elements, their second digits, their third
  /// digits, and so on, padded with zeros to a multiple of 128 elements.
  static constexpr int chunk = 128;

  const float* from;
  void* to;              // rows of bytes
  OperandScale* scales;  // per row: the unit, and an infinite loss if digits do not fit
  std::int64_t row_length, rows, from_ld;

  static constexpr std::int64_t bytes_in_row(std::int64_t row_length) {
    return digits::count * round_up(row_length, std::int64_t{chunk});
  }
};

}  // namespace rung::cuda
