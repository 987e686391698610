#pragma once
// The source location of a call, as far as the headers report it.

#include <string>

namespace rung::emu {

/// Tells where this thread's next allocation or launch comes from.
void locate(const char* file, int line);

/// The line that this thread's allocation or launch comes from, "tile.cu:31", or "" if it was not
/// told; told once.
std::string take_location();

}  // namespace rung::emu
