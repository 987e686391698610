#pragma once
// Runs a checked batch of any type on the current GPU.

#include "core/cuda_driver/api.hpp"
#include "library/canonical.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// Pointers and arrays of pointers are in device memory. Throws rung::Error and std::bad_alloc.
void gemm_batched(const CanonicalCall& canonical, Stream stream, const CudaBatchOptions& options);

}  // namespace rung::cuda
