#pragma once
// Where the halves and the scales of a split operand are in memory: for kernels without tensor maps.

#include <cstdint>

#include "core/integers.hpp"
#include "device/cuda/library/split_operand.hpp"

namespace rung::cuda {

/// The scales of all rows follow their halves, from a multiple of 256 bytes on.
constexpr std::int64_t bytes_of_halves(std::int64_t rows, std::int64_t row_length) {
  constexpr std::int64_t bytes_of_half = 2;
  return round_up(rows * SplitOperand::halves_in_row(row_length) * bytes_of_half,
                  std::int64_t{256});
}

}  // namespace rung::cuda
