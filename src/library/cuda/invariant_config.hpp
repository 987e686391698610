#pragma once
// Configurations of products in mode batch_invariant. They decide which blocks add up which parts of k,
// and never the parts or their order, which k alone decides (device/cuda/tile/invariant_parts.hpp).

#include <cstdint>

#include "core/call.hpp"
#include "library/cuda/launch.hpp"
#include "library/cuda/select.hpp"

namespace rung::cuda {

/// The tile of few_rows, and as `splits` how many blocks share the parts of k of one: the fastest.
GemmConfig few_rows_config(std::int64_t n, std::int64_t k, bool b_is_k_major, int multiprocessors);

/// The kernel and the configuration for the choice of choose_cuda_gemm().
CudaGemmChoice invariant_config(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                                const GemmCall& problem, const Limits& limits);

}  // namespace rung::cuda
