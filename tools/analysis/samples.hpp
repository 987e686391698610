#pragma once
// Runs a GEMM rung's tile for two values of k, to separate the work proportional to k from the
// rest.

#include <functional>

#include "tools/analysis/quantities.hpp"
#include "tools/analysis/trace_rung.hpp"

namespace rung::analysis {

/// Samples of one tile of C, or the tiles of a cluster; an interior one if the problem has one.
struct Samples {
  double k1 = 0, k2 = 0;  // equal if the problem has fewer than two k-blocks
  KernelTrace trace1, trace2;
  Quantities at_k1, at_k2;
  double elements = 0;  // elements of C in the tile

  /// A quantity per element of C: the part proportional to k, and the constant part.
  double per_k(double Quantities::* member) const;
  double constant(double Quantities::* member) const;
  /// The quantities of one tile at the problem's k.
  Quantities at(double k) const;
};

/// Samples a tile with this number of elements of C. `run` executes it for a given k. `k`: the
/// problem's; `step`: the rung's k-block.
Samples sample_at(std::int64_t k, std::int64_t step, Dtype dtype, double elements,
                  const std::function<KernelTrace(std::int64_t k)>& run);

Samples sample(const GemmSetting& setting);

}  // namespace rung::analysis
