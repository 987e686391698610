#pragma once
// The source location of a call, as far as the headers report it.

#include <string>

namespace rung::emu {

/// The source line of this thread's allocation, "tile.cu:31", or "" if unknown; valid for one
/// query.
std::string take_location();

}  // namespace rung::emu
