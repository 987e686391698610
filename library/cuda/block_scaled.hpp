#pragma once
// Products with block scales on GPUs.

#include "library/block_scaled.hpp"
#include "library/cuda/context_cache.hpp"

namespace rung::cuda {

/// Enqueues the product in the stream. Throws rung::Error and std::bad_alloc.
void gemm_block_scaled(const BlockScaledCall& call, Stream stream, const CudaBatchOptions& options);

}  // namespace rung::cuda
