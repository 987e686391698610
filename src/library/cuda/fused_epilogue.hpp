#pragma once
// Products whose kernel has the epilogue: kernels/device/cuda/library/fused_epilogue.cu.

#include "library/cuda/launch.hpp"
#include "library/epilogue.hpp"

namespace rung::cuda {

/// Launches the product and its epilogue as one kernel, on at most that many SMs. False, and nothing is
/// launched, if the kernel lacks the types, the layouts or a part, if copies of operands do not fit the
/// workspace, or if split-K is expected to gain more. Throws rung::Error and std::bad_alloc.
bool launch_fused(const WorkspaceSource& workspace, const EpilogueCall& call, int multiprocessors);

}  // namespace rung::cuda
