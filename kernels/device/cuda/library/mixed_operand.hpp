#pragma once
// Conversions of the operands of a product of bfloat16 and float (mixed_operand.cu): floats to
// parts for tensor cores, or bfloat16 to floats if both operands are multiplied as floats.

#include <cstdint>

#include "core/integers.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/library/split_operand.hpp"

namespace rung::cuda {

/// Writes a matrix of floats as the sum of three bfloat16 matrices.
struct SplitParts {
  static constexpr int threads = 512;
  static constexpr int parts = 3;
  /// A row of the result holds the high parts of 64 elements, their middle parts, their low parts,
  /// and so on, padded with zeros to a multiple of 64 elements: see SplitOperand.
  static constexpr int chunk = 64;

  const float* from;
  void* to;  // rows of bfloat16
  /// For each row of A or column of B. `loss` is 0 if every element is the sum of its parts, and 1
  /// otherwise: an element is infinite, NaN, or nonzero and below 2^-102.
  OperandScale* scales;
  std::int64_t row_length, rows, from_ld;  // rows are contiguous
  bool is_k_major;                         // a row is a row of A or a column of B

  static constexpr std::int64_t parts_in_row(std::int64_t row_length) {
    return parts * round_up(row_length, std::int64_t{chunk});
  }
};

/// Writes a matrix of bfloat16 as floats.
struct Widen {
  static constexpr int threads = 256;
  static constexpr int chunk = 4 * threads;  // row elements that a block writes at a time

  const void* from;
  float* to;
  std::int64_t row_length, rows, from_ld, to_ld;  // rows are contiguous
};

/// The tensor map of an operand's parts (load/parts_load.cuh) is marked as both split and in
/// digits.
constexpr bool is_in_parts(const TensorMapSpec& spec) { return spec.is_split && spec.is_in_digits; }

}  // namespace rung::cuda
