#pragma once
// Runs checked grouped products of any type on the CPU.

#include "library/canonical_grouped.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// Offsets are in host memory. Throws rung::Error: Status::invalid_argument for offsets that
/// decrease or exceed the matrices, Status::unavailable if no CPU rung supports the types. Throws
/// std::bad_alloc.
void gemm_grouped(const CanonicalGroups& canonical, const GemmOptions& options);

}  // namespace rung::cpu
