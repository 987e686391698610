#pragma once
// The cases that every rung must pass: `rung verify` and the tests run these.

#include <vector>

#include "core/case.hpp"

namespace rung {

enum class Effort { quick, full };

/// Sizes of 0 and 1, primes, one less and one more than common tiles, oblong shapes; every layout,
/// leading dimensions beyond the row, alpha and beta of 0, 1 and others, NaN and infinity.
std::vector<GemmSpec> standard_gemm_cases(Dtype dtype, Effort effort);

/// The same for the dot product, ill-conditioned data included if compensated. Of a sum, set
/// DotSpec::sum in each.
std::vector<DotSpec> standard_dot_cases(Dtype dtype, bool compensated, Effort effort);

}  // namespace rung
