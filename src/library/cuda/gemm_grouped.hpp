#pragma once
// Runs checked ragged groups of any types on the current GPU.

#include "cuda_driver/api.hpp"
#include "library/canonical_grouped.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// The most groups of a launch, as tile/group_scheduler.cuh has it.
inline constexpr std::int64_t most_groups = 512;

/// The pointers are device pointers, that of the offsets too. Throws rung::Error and std::bad_alloc.
void gemm_grouped(const CanonicalGroups& canonical, Stream stream, const CudaBatchOptions& options);

}  // namespace rung::cuda
