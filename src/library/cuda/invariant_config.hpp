#pragma once
// Configurations of products in mode batch_invariant. They decide which blocks add up which parts of k,
// and never the parts or their order, which k alone decides (device/cuda/tile/invariant_parts.hpp).

#include <cstdint>

#include "core/call.hpp"
#include "library/cuda/launch.hpp"
#include "library/cuda/select.hpp"

namespace rung::cuda {

/// How many blocks of few_rows share the parts of k of a tile: the fastest for n columns.
int blocks_of_few_rows(std::int64_t n, std::int64_t k, int multiprocessors);

/// A choice with its configuration, and on how many SMs to launch it.
struct InvariantConfig {
  CudaGemmChoice choice;
  int multiprocessors;
};

/// The kernel and the configuration for the choice of choose_cuda_gemm(). Throws rung::Error if the
/// workspace has no room for the sums of a block.
InvariantConfig invariant_config(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                                 const GemmCall& problem, const Limits& limits);

}  // namespace rung::cuda
