#pragma once
// Where ptxas puts shared arrays.

#include <cstdint>
#include <map>
#include <string>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Offsets in a block's shared memory, in bytes, by name: the arrays that the entry's text names,
/// its own in the order of their declaration, then the module's, each at its alignment; last, at a
/// multiple of 16, the dynamic array. So does ptxas of CUDA 13.0; the joining of accesses depends
/// on it.
std::map<std::string, std::uint64_t> shared_layout(const ptx::Module& module,
                                                   const ptx::Function& entry);

}  // namespace rung::vgpu
