#pragma once
// Runs a checked batch of any types on the current GPU.

#include "cuda_driver/api.hpp"
#include "library/canonical.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// The pointers are device pointers, and so are arrays of pointers. Throws rung::Error and
/// std::bad_alloc.
void gemm_batched(const CanonicalCall& canonical, Stream stream, const CudaBatchOptions& options);

}  // namespace rung::cuda
