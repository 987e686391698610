#pragma once
// Finds loads from shared memory that ptxas merges: loads of adjacent words at an address with
// known alignment.

#include <map>

#include "vgpu/ptx/module.hpp"

namespace rung::analysis {

/// For a function of the text: the number of merged loads (2 or 4) by the line of each load. Loads
/// that are not merged are omitted.
std::map<int, int> merged_shared_loads(const vgpu::ptx::Module& text,
                                       const vgpu::ptx::Function& function);

}  // namespace rung::analysis
