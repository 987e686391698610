#pragma once
// Verifies some elements of a product, which may be on a device, by computing them on the host.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/measure/random/problem_pool.hpp"

namespace rung {

/// Checks one random element per cell of a grid of at most 32 x 32 cells over C (fewer for large
/// k), including elements of the first and last row and column. Computes expected values once, so
/// that many kernels can be checked for one problem.
class SampledCheck {
 public:
  SampledCheck(const PooledGemm& problem, std::uint64_t seed);

  /// The error of the worst sample outside the bound of core/verify.hpp, as one line; empty if all
  /// are correct. `pool` contains the problem's C. Throws cuda::DriverError.
  std::string error(const ProblemPool& pool) const;

 private:
  struct Sample {
    std::int64_t row, col;
    long double expected, bound;  // for integers: the sum modulo 2^32, and 0
  };

  Dtype dtype_;
  std::int64_t n_;
  std::vector<Sample> samples_;  // ordered by rows
};

}  // namespace rung
