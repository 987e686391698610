#pragma once
// Sums of a block that has all parts of k (invariant_parts.hpp), with room in its registers for two.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/invariant_parts.hpp"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// total += the sums of all parts. multiply(begin, end, sums) adds those of steps [begin, end) to sums.
template <class Multiply, class Sum, int J>
__device__ __forceinline__ void sum_parts(int k, Sum (&total)[J][4], const Multiply& multiply) {
  RUNG_NO_UNROLL
  for (int part = 0; part < invariant_parts(k); ++part) {
    Sum sums[J][4] = {};
    multiply(static_cast<int>(begin_of_invariant_part(k, part)),
             static_cast<int>(begin_of_invariant_part(k, part + 1)), sums);
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int e = 0; e < 4; ++e) total[j][e] += sums[j][e];
    }
  }
}

}  // namespace rung::cuda
