#pragma once
// The layout of shared arrays, as in ptxas.

#include <cstdint>
#include <map>
#include <string>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Byte offsets in a block's shared memory, by name. The order is that of ptxas (CUDA 13.0): the
/// arrays that the entry uses, first its own in the order of declaration, then the module's, each
/// at its alignment; then, at a multiple of 16, the dynamic array. The merging of accesses depends
/// on this layout.
std::map<std::string, std::uint64_t> shared_layout(const ptx::Module& module,
                                                   const ptx::Function& entry);

}  // namespace rung::vgpu
