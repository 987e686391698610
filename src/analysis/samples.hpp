#pragma once
// A gemm rung's tile run at two different k, so that what grows with k and what does not are told
// apart.

#include <functional>

#include "analysis/quantities.hpp"
#include "analysis/trace_rung.hpp"

namespace rung::analysis {

/// One tile of C, or a cluster's, interior where the problem has such a one.
struct Samples {
  double k1 = 0, k2 = 0;  // the same where the problem's own k is short
  KernelTrace trace1, trace2;
  Quantities at_k1, at_k2;
  double elements = 0;  // of C in the tile

  /// Elements or bytes or … for each element of C: so many for each step along k, and so many
  /// besides.
  double per_k(double Quantities::* member) const;
  double constant(double Quantities::* member) const;
  /// Of one tile at the problem's k.
  Quantities at(double k) const;
};

/// Of a tile with so many elements of C, which `run` runs at a k. `k` is the problem's, and `step`
/// what the rung goes along k at a time.
Samples sample_at(std::int64_t k, std::int64_t step, Dtype dtype, double elements,
                  const std::function<KernelTrace(std::int64_t k)>& run);

Samples sample(const GemmSetting& setting);

}  // namespace rung::analysis
