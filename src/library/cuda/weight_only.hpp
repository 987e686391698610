#pragma once
// Products by packed weights on GPUs.

#include "library/cuda/context_cache.hpp"
#include "library/weight_only.hpp"

namespace rung::cuda {

/// In the stream. They throw rung::Error and std::bad_alloc.
PackedWeights pack_weights(const PackCall& call, Stream stream);
void gemm_weight_only(const WeightOnlyCall& call, Stream stream, const CudaOptions& options);

}  // namespace rung::cuda
