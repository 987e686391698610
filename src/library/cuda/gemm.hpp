#pragma once
// Runs a checked gemm of any types with the rung that the rules select for the current GPU.

#include "cuda_driver/api.hpp"
#include "library/canonical.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// The pointers are device pointers. Throws rung::Error and std::bad_alloc.
void gemm(const CanonicalCall& canonical, Stream stream, const CudaOptions& options);

}  // namespace rung::cuda
