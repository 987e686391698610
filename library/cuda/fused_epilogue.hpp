#pragma once
// Products with a fused epilogue: kernels/device/cuda/library/fused_epilogue.cu.

#include "library/cuda/launch.hpp"
#include "library/epilogue.hpp"

namespace rung::cuda {

/// Launches the product and its epilogue as one kernel, on at most `multiprocessors` SMs. Returns
/// false and launches nothing if the kernel does not support the types, layouts or operations, if
/// packed operands do not fit in the workspace, or if split-K is predicted to be faster. Throws
/// rung::Error and std::bad_alloc.
bool launch_fused(const WorkspaceSource& workspace, const EpilogueCall& call, int multiprocessors);

}  // namespace rung::cuda
