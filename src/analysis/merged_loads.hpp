#pragma once
// Loads from shared memory of which ptxas makes one: of neighbouring words, at an address that it
// knows to be aligned.

#include <map>

#include "vgpu/ptx/module.hpp"

namespace rung::analysis {

/// Of a function of the text: by the line of a load, how many loads become one, 2 or 4 words together;
/// others are left out.
std::map<int, int> merged_shared_loads(const vgpu::ptx::Module& text,
                                       const vgpu::ptx::Function& function);

}  // namespace rung::analysis
