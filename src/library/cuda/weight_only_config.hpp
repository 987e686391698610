#pragma once
// Which kernel multiplies by packed weights, and into how many parts it cuts k.

#include "backends/cuda/limits.hpp"
#include "library/cuda/select.hpp"
#include "library/weight_only.hpp"

namespace rung::cuda {

/// Rung 71, or from some rows on, on sm_90, rung 72.
CudaGemmChoice choose_weight_only(const WeightOnlyCall& call, int arch, const Limits& limits);

/// Rows of A (BM) and of the weights (BN) that a block takes.
const TileShape& weight_only_tile(const CudaGemmChoice& chosen);

/// Whether the kernel takes a tensor map of A.
bool loads_by_tma(const CudaGemmChoice& chosen);

}  // namespace rung::cuda
