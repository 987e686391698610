#pragma once
// Runs checked ragged groups of any types on the CPU.

#include "library/canonical_grouped.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// Offsets are in host memory. Throws rung::Error: Status::invalid_argument for offsets that
/// decrease or leave the matrices, Status::unavailable if no CPU rung has the types; and
/// std::bad_alloc.
void gemm_grouped(const CanonicalGroups& canonical, const GemmOptions& options);

}  // namespace rung::cpu
