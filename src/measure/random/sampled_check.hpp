#pragma once
// Verifies some elements of a product, which may be on a device, against the host's own sums.

#include <cstdint>
#include <string>
#include <vector>

#include "measure/random/problem_pool.hpp"

namespace rung {

/// Elements of C in a grid of at most 32 x 32 cells, one random element of each, fewer for a long
/// k; the first and the last row and column are among them. The expected values are summed once,
/// so that many kernels can be checked for one problem.
class SampledCheck {
 public:
  SampledCheck(const PooledGemm& problem, std::uint64_t seed);

  /// The error, in one line, of the worst sample outside the bound of core/verify.hpp; empty if all
  /// are right. `pool`: with the problem's C. Throws cuda::DriverError.
  std::string error(const ProblemPool& pool) const;

 private:
  struct Sample {
    std::int64_t row, col;
    long double expected, bound;  // of integers: the sum modulo 2^32, and 0
  };

  Dtype dtype_;
  std::int64_t n_;
  std::vector<Sample> samples_;  // by rows
};

}  // namespace rung
