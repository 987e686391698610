#pragma once
// Which kernel multiplies by packed weights, and into how many parts it cuts k.

#include "backends/cuda/limits.hpp"
#include "library/cuda/select.hpp"
#include "library/weight_only.hpp"

namespace rung::cuda {

/// Rung 73 for one row, rung 71, or from some rows on, on sm_90, rung 72.
CudaGemmChoice choose_weight_only(const WeightOnlyCall& call, int arch, const Limits& limits);

/// Rows of A (BM) and of the weights (BN) that a block takes; of rung 73, the most rows of the weights.
const TileShape& weight_only_tile(const CudaGemmChoice& chosen);

/// The tiles of C of a launch, each a block for every part of k, and the shared memory of a block.
struct WeightOnlyBlocks {
  std::int64_t tiles, shared_bytes;
};
WeightOnlyBlocks weight_only_blocks(const CudaGemmChoice& chosen, const GemmCall& g,
                                    int multiprocessors);

/// Whether the kernel takes a tensor map of A.
bool loads_by_tma(const CudaGemmChoice& chosen);
/// Whether it may start before the previous kernel has finished (Launch::starts_early). Rung 73 is
/// compiled anew for sm_90 (cmake/CudaRungs.cmake), and waits there.
bool may_start_early(const CudaGemmChoice& chosen, int arch);

}  // namespace rung::cuda
