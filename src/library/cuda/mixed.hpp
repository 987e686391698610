#pragma once
// Products of bfloat16 and float matrices on a GPU.

#include "cuda_driver/types.hpp"
#include "library/cuda/launch.hpp"
#include "library/mixed.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// Enqueues the product. Throws as rung::gemm() in rung/mixed.hpp.
void gemm_mixed(const MixedCall& mixed, Stream stream, const CudaOptions& options);

/// Enqueues it by gemm/cuda/35. Returns false, and does nothing, where the GPU has no such kernel, or
/// the workspace no room for the parts.
bool multiply_parts(const WorkspaceSource& workspace, const MixedCall& mixed, int multiprocessors);

}  // namespace rung::cuda
