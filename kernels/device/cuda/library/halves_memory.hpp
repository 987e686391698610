#pragma once
// The memory layout of the halves and scales of a split operand, for kernels without tensor maps.

#include <cstdint>

#include "core/integers.hpp"
#include "device/cuda/library/split_operand.hpp"

namespace rung::cuda {

/// The size of all halves. The scales of all rows follow, aligned to 256 bytes.
constexpr std::int64_t bytes_of_halves(std::int64_t rows, std::int64_t row_length) {
  constexpr std::int64_t bytes_of_half = 2;
  return round_up(rows * SplitOperand::halves_in_row(row_length) * bytes_of_half,
                  std::int64_t{256});
}

}  // namespace rung::cuda
