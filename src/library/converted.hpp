#pragma once
// Products on CPUs of types that no rung has, by rungs of bfloat16 and float16.

#include "library/canonical.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// Whether gemm_converted() has the types: results of 16 bits, and 8-bit floats.
bool converts(Dtype dtype);

/// The product of such types. 8-bit floats become bfloat16, which represents them exactly, in memory of
/// its own; sums become results of 16 bits some rows at a time. Throws std::bad_alloc.
void gemm_converted(const CanonicalCall& canonical, const GemmOptions& options);

}  // namespace rung::cpu
