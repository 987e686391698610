#pragma once
// Runs a checked gemm of any types with the rung that the rules select for the CPU.

#include "library/canonical.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// Throws rung::Error (Status::unavailable) if no CPU rung has the types, and std::bad_alloc.
void gemm(const CanonicalCall& canonical, const GemmOptions& options);

}  // namespace rung::cpu
