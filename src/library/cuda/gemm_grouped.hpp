#pragma once
// Runs checked ragged groups of any types on the current GPU.

#include "cuda_driver/api.hpp"
#include "library/canonical_grouped.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// The pointers are device pointers, that of the offsets too. Throws rung::Error and std::bad_alloc.
void gemm_grouped(const CanonicalGroups& canonical, Stream stream, const CudaBatchOptions& options);

}  // namespace rung::cuda
