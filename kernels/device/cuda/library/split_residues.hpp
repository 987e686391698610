#pragma once
// The argument of the kernel of split_residues.cu, and what it makes of an operand of doubles: rows
// of residues of 8 bits, K-major.

#include <cstdint>

#include "core/integers.hpp"
#include "core/residues.hpp"
#include "device/cuda/library/split_operand.hpp"

namespace rung::cuda {

struct SplitResidues {
  static constexpr int threads = 512;
  static constexpr int lanes = 32;
  /// Steps that a thread converts at a time: their residues are 16 bytes.
  static constexpr int width = 16;
  /// A row of the result has the residues of all elements modulo the first number, then those
  /// modulo the second one, and so on, each with zeros up to a multiple of 128.
  static constexpr int chunk = 128;

  const double* from;
  void* to;  // rows of bytes
  OperandScale*
      scales;  // of each row: minus the shift, and an infinite loss if elements are not finite
  std::int64_t rows, k;           // of the result
  std::int64_t from_row, from_k;  // elements of `from` between neighbours; one of both is 1

  static constexpr std::int64_t steps_in_row(std::int64_t k) {
    return round_up(k, std::int64_t{chunk});
  }
  static constexpr std::int64_t bytes_in_row(std::int64_t k) {
    return residues::count * steps_in_row(k);
  }
};

/// What a block of rung 42 keeps of its tile of C until it has the residues by all moduli.
inline constexpr std::int64_t residues_of_tile_bytes = std::int64_t{residues::count} * 128 * 256;

}  // namespace rung::cuda
