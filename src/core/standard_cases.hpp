#pragma once
// The cases that every rung must pass, as run by `rung verify` and the tests.

#include <vector>

#include "core/case.hpp"
#include "core/rung.hpp"

namespace rung {

enum class Effort { quick, full };

/// Sizes of 0 and 1, primes, one less and one more than common tiles, oblong shapes; every layout,
/// leading dimensions beyond the row length, alpha and beta of 0, 1 and others, NaN and infinity.
std::vector<GemmSpec> standard_gemm_cases(Dtype dtype, Effort effort);

/// `count` random problems per seed, with sizes from 1 to 4095 (small ones as likely as large ones)
/// and at most `most_multiply_adds` multiply-adds; layouts, scalings and the rest as above.
std::vector<GemmSpec> random_gemm_cases(Dtype dtype, int count, double most_multiply_adds,
                                        std::uint64_t seed);

/// Batches of small products: of each size around the tiles for them, with gaps between the
/// matrices and without.
std::vector<GemmSpec> standard_batched_cases(Dtype dtype);

/// The required accuracy of a dot rung, by its name.
Accuracy accuracy_of(const RungInfo& rung);

/// The same for the dot product, including ill-conditioned data unless plain. For sums, set
/// DotSpec::sum in each.
std::vector<DotSpec> standard_dot_cases(Dtype dtype, Accuracy accuracy, Effort effort);

/// The same for the dot product, with 1 to 2^20 - 1 elements.
std::vector<DotSpec> random_dot_cases(Dtype dtype, Accuracy accuracy, int count,
                                      std::uint64_t seed);

}  // namespace rung
