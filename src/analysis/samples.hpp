#pragma once
// Runs a gemm rung's tile for two values of k, to separate the work that grows with k from the
// rest.

#include <functional>

#include "analysis/quantities.hpp"
#include "analysis/trace_rung.hpp"

namespace rung::analysis {

/// One tile of C, or those of a cluster; an interior one if the problem has one.
struct Samples {
  double k1 = 0, k2 = 0;  // the same if the problem has fewer than two k-blocks
  KernelTrace trace1, trace2;
  Quantities at_k1, at_k2;
  double elements = 0;  // elements of C in the tile

  /// Quantity per element of C: a part proportional to k, and a constant part.
  double per_k(double Quantities::* member) const;
  double constant(double Quantities::* member) const;
  /// For one tile at the problem's k.
  Quantities at(double k) const;
};

/// For a tile with that many elements of C, which `run` executes for a given k. `k` is the
/// problem's, `step` the rung's k-block.
Samples sample_at(std::int64_t k, std::int64_t step, Dtype dtype, double elements,
                  const std::function<KernelTrace(std::int64_t k)>& run);

Samples sample(const GemmSetting& setting);

}  // namespace rung::analysis
