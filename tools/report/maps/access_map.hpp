#pragma once
// Draws the words that the lanes of a warp access with one instruction: 128-byte lines of global
// memory, or the 32 banks of shared memory.

#include <string>

#include "tools/report/figure.hpp"
#include "vgpu/model/access_watch.hpp"

namespace rung {

/// `where`: a description of the instruction, such as "00_naive.cu:28, ld.global.f32".
Figure access_map(std::string id, const vgpu::WarpAccess& access, const std::string& where);

}  // namespace rung
