#pragma once
// Products of bfloat16 and float matrices on a GPU.

#include "core/cuda_driver/types.hpp"
#include "library/cuda/launch.hpp"
#include "library/mixed.hpp"
#include "rung/cuda_stream.hpp"

namespace rung::cuda {

/// Enqueues the product. Throws like rung::gemm() in rung/mixed.hpp.
void gemm_mixed(const MixedCall& mixed, Stream stream, const CudaOptions& options);

/// Enqueues the product with gemm/cuda/split_bf16. Returns false and does nothing if the GPU has no such
/// kernel or the workspace has no room for the parts.
bool multiply_parts(const WorkspaceSource& workspace, const MixedCall& mixed, int multiprocessors);

}  // namespace rung::cuda
