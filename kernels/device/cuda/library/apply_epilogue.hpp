#pragma once
// The parameter of the kernel in apply_epilogue.cu.

#include "core/epilogue.hpp"

namespace rung::cuda {

struct ApplyEpilogue {
  EpilogueArgs args;
  const void* sums;  // row-major without gaps; null: all 0

  /// The tile of results that a block computes.
  static constexpr int rows = 32, cols = 64;
  static constexpr int rows_at_once = 4;
};

}  // namespace rung::cuda
