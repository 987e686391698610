#pragma once
// CPU products of types without rungs, computed by rungs of bfloat16 and float16.

#include <cstddef>

#include "library/canonical.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// True for the types that gemm_converted() supports: 16-bit results and 8-bit floats.
bool converts(Dtype dtype);

/// The memory that gemm_converted() needs for products up to the extents of `largest`, which must
/// read A and B. Throws std::bad_alloc if the size overflows.
std::size_t bytes_to_convert(const CanonicalCall& largest);

/// Computes a product of such types. 8-bit floats are converted to bfloat16, which is exact, in
/// `memory`; sums are converted to 16-bit results some rows at a time. The thread must have
/// reserved its last resort (device/cpu/workspace.hpp).
void gemm_converted(const CanonicalCall& canonical, const GemmOptions& options, std::byte* memory);

}  // namespace rung::cpu
