#pragma once
// A gemm of any types, checked, to the rung that the rules choose on the CPU.

#include "library/canonical.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// Throws rung::Error (Status::unavailable) for types that CPUs have no rung for, and
/// std::bad_alloc.
void gemm(const CanonicalCall& canonical, const GemmOptions& options);

}  // namespace rung::cpu
