#pragma once
// Products by packed weights on GPUs.

#include "library/cuda/context_cache.hpp"
#include "library/weight_only.hpp"

namespace rung::cuda {

/// Enqueue their work in the stream. Throw rung::Error and std::bad_alloc.
PackedWeights pack_weights(const PackCall& call, Stream stream);
void gemm_weight_only(const WeightOnlyCall& call, Stream stream, const CudaOptions& options);

}  // namespace rung::cuda
