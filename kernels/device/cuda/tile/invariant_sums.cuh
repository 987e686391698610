#pragma once
// Adds up parts of k one after another within a block (invariant_parts.hpp). Registers hold the
// sums of the current part and of all previous parts.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/invariant_parts.hpp"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// total += the sums of the parts of k that begin in [begin, end). Both bounds must coincide with
/// part boundaries. multiply(begin, end, sums) adds the products of these k-steps to sums.
template <class Multiply, class Sum, int J>
__device__ __forceinline__ void sum_parts(int begin, int end, std::int64_t k, Sum (&total)[J][4],
                                          const Multiply& multiply) {
  RUNG_NO_UNROLL
  for (int part = 0; part < invariant_parts(k); ++part) {
    const auto first = static_cast<int>(begin_of_invariant_part(k, part));
    if (first < begin || first >= end) continue;
    Sum sums[J][4] = {};
    multiply(first, static_cast<int>(begin_of_invariant_part(k, part + 1)), sums);
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int e = 0; e < 4; ++e) total[j][e] += sums[j][e];
    }
  }
}

}  // namespace rung::cuda
