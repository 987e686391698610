#pragma once
// What a product of bfloat16 and float makes of its operands (mixed_operand.cu): parts of floats for
// tensor cores, and floats of bfloat16 where both are multiplied as floats.

#include <cstdint>

#include "core/integers.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/library/split_operand.hpp"

namespace rung::cuda {

/// Writes a matrix of floats as the sum of three of bfloat16.
struct SplitParts {
  static constexpr int threads = 512;
  static constexpr int parts = 3;
  /// A row of the result has the 64 high parts of 64 elements, the 64 middle ones, the 64 low ones,
  /// and so on, with zeros up to a multiple of 64 elements: see SplitOperand.
  static constexpr int chunk = 64;

  const float* from;
  void* to;  // rows of bfloat16
  /// Of each row of A, or column of B. Its loss is 0 if each element is the sum of its parts, and 1
  /// if one is not: because it is infinite, NaN, or less than 2^-102 and not 0.
  OperandScale* scales;
  std::int64_t row_length, rows, from_ld;  // a row is contiguous
  bool is_k_major;                         // it is a row of A, or a column of B

  static constexpr std::int64_t parts_in_row(std::int64_t row_length) {
    return parts * round_up(row_length, std::int64_t{chunk});
  }
};

/// Writes a matrix of bfloat16 as one of floats.
struct Widen {
  static constexpr int threads = 256;
  static constexpr int chunk = 4 * threads;  // elements of a row that a block writes at a time

  const void* from;
  float* to;
  std::int64_t row_length, rows, from_ld, to_ld;  // a row is contiguous
};

/// The map of an operand's parts (load/parts_load.cuh) is marked as both split and in digits.
constexpr bool is_in_parts(const TensorMapSpec& spec) { return spec.is_split && spec.is_in_digits; }

}  // namespace rung::cuda
