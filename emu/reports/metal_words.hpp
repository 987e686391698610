#pragma once

#include <string>

namespace rung::emu {

/// A report's text with Metal's words for CUDA's: threadgroups and simdgroups for blocks and warps, device and
/// threadgroup memory, Metal's barriers.
std::string in_metal_words(const std::string& text);

}  // namespace rung::emu
