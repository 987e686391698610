#pragma once
// Runs checked grouped products of any type on the current GPU.

#include "core/cuda_driver/api.hpp"
#include "library/canonical_grouped.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// The maximum number of groups per launch, as in tile/group_scheduler.cuh.
inline constexpr std::int64_t max_groups = 512;

/// Sets call.batch_status to 1, in the stream, if offsets decrease or exceed `extent`. For calls
/// whose result does not depend on the offsets, so that no other kernel reads them. Throws
/// rung::Error and std::bad_alloc, here and below.
void check_offsets(const GroupedCall& grouped, std::int64_t extent, Stream stream);

/// Pointers, including the offsets, are device pointers.
void gemm_grouped(const CanonicalGroups& canonical, Stream stream, const CudaBatchOptions& options);

}  // namespace rung::cuda
