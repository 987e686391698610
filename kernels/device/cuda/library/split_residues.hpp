#pragma once
// The parameter of the kernel in split_residues.cu, and the layout of its result: rows of 8-bit
// residues of a double operand, K-major.

#include <cstdint>

#include "core/integers.hpp"
#include "core/residues.hpp"
#include "device/cuda/library/split_operand.hpp"

namespace rung::cuda {

struct SplitResidues {
  static constexpr int threads = 512;
  static constexpr int lanes = 32;
  /// The number of k-steps that a thread converts at a time: their residues occupy 16 bytes.
  static constexpr int width = 16;
  /// A row of the result holds the residues of all elements modulo the first modulus, then those
  /// modulo the second one, and so on, each padded with zeros to a multiple of 128.
  static constexpr int chunk = 128;

  const double* from;
  void* to;  // rows of bytes
  OperandScale*
      scales;  // per row: minus the shift, and an infinite loss if elements are not finite
  std::int64_t rows, k;           // of the result
  std::int64_t from_row, from_k;  // strides of `from` in elements; one of them is 1

  static constexpr std::int64_t steps_in_row(std::int64_t k) {
    return round_up(k, std::int64_t{chunk});
  }
  static constexpr std::int64_t bytes_in_row(std::int64_t k) {
    return residues::count * steps_in_row(k);
  }
};

/// The memory in which a block of residues keeps the residues of its tile of C.
inline constexpr std::int64_t residues_of_tile_bytes = std::int64_t{residues::count} * 128 * 256;

}  // namespace rung::cuda
