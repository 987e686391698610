#pragma once
// Programs that define a warpSize of their own, as `const int warpSize = 32;`: nvcc only declares
// the variable of this name, clang's headers define it.

#include <string>

namespace rung::emu {

/// The text, with another name in the place of a warpSize that it defines outside of functions and
/// classes. Members of that name keep it.
std::string rename_own_warp_size(const std::string& text);

}  // namespace rung::emu
