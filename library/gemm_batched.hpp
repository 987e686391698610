#pragma once
// Runs a checked batch of any type on the CPU.

#include "library/canonical.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// Arrays of pointers are in host memory. Throws rung::Error: Status::invalid_argument for a null
/// pointer in an array, Status::unavailable if no CPU rung supports the types. Throws
/// std::bad_alloc.
void gemm_batched(const CanonicalCall& canonical, const GemmOptions& options);

}  // namespace rung::cpu
