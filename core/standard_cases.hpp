#pragma once
// The test cases that every rung must pass in `rung verify` and in the tests.

#include <vector>

#include "core/case.hpp"
#include "core/rung.hpp"

namespace rung {

enum class Effort { quick, full };

/// Sizes of 0 and 1, primes, common tile sizes plus and minus one, oblong shapes; all layouts,
/// leading dimensions above the row length, alpha and beta of 0, 1 and other values, NaN and
/// infinity.
std::vector<GemmSpec> standard_gemm_cases(Dtype dtype, Effort effort);

/// `count` random problems with sizes from 1 to 4095 and at most `max_multiply_adds`
/// multiply-adds. Each power of two is equally likely as the magnitude of a size. Other properties
/// vary as in standard_gemm_cases().
std::vector<GemmSpec> random_gemm_cases(Dtype dtype, int count, double max_multiply_adds,
                                        std::uint64_t seed);

/// Batches of small products: sizes around the batched tile sizes, with and without gaps between
/// the matrices.
std::vector<GemmSpec> standard_batched_cases(Dtype dtype);

/// The accuracy that a dot rung must reach, derived from its name.
Accuracy accuracy_of(const RungInfo& rung);

/// Dot-product cases, including ill-conditioned data unless `accuracy` is plain. For sums, set
/// DotSpec::sum in each.
std::vector<DotSpec> standard_dot_cases(Dtype dtype, Accuracy accuracy, Effort effort);

/// `count` random dot products of 1 to 2^20 - 1 elements.
std::vector<DotSpec> random_dot_cases(Dtype dtype, Accuracy accuracy, int count,
                                      std::uint64_t seed);

}  // namespace rung
