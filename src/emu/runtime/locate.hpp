#pragma once
// Where in the program's text a call comes from, as far as the headers tell.

#include <string>

namespace rung::emu {

/// Tells where this thread's next allocation or launch comes from.
void locate(const char* file, int line);

/// The line that this thread's allocation or launch comes from, "tile.cu:31", or "" if it was not
/// told; told once.
std::string take_location();

}  // namespace rung::emu
