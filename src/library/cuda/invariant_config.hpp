#pragma once
// Configurations of products in mode batch_invariant. They decide which blocks add up which parts
// of k. k alone decides the parts and their order (device/cuda/tile/invariant_parts.hpp).

#include <cstdint>

#include "core/call.hpp"
#include "library/cuda/launch.hpp"
#include "library/cuda/select.hpp"

namespace rung::cuda {

/// The fastest tile of few_rows, and as `splits` how many blocks share the parts of k of a tile.
GemmConfig few_rows_config(std::int64_t n, std::int64_t k, bool b_is_k_major, int multiprocessors);

/// The kernel and its configuration in the problem's mode, whichever it is. `chosen`: by
/// choose_cuda_gemm(), and it has the type. In mode batch_invariant, a rung 31 whose k is cut may be
/// replaced by summed_parts.
CudaGemmChoice config_in_mode(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                              const GemmCall& problem, const Limits& limits);

}  // namespace rung::cuda
