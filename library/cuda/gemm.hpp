#pragma once
// Runs a checked gemm of any type with the rung that the rules select for the current GPU.

#include "core/cuda_driver/api.hpp"
#include "library/canonical.hpp"
#include "library/cuda/launch.hpp"
#include "rung/cuda_stream.hpp"

namespace rung::cuda {

/// Adds the launches that compute a product with device pointers, if C changes. C must not be
/// empty. Uses the workspace of the sequence. Throws rung::Error and std::bad_alloc.
void add_gemm(LaunchSequence& sequence, const CanonicalCall& canonical, const CudaOptions& options);

/// Checks the mode and enqueues the launches. Throws likewise.
void gemm(const CanonicalCall& canonical, Stream stream, const CudaOptions& options);

}  // namespace rung::cuda
