#pragma once
// The source location of a call, as far as the headers report it.

#include <string>
#include <utility>

namespace rung::emu {

/// Tells where this thread's next allocation or launch comes from.
void locate(const char* file, int line);

/// The source line of this thread's allocation or launch, with the file as the compiler was given it; an empty
/// path and 0 if unknown. Clears it.
std::pair<std::string, int> take_file_and_line();

}  // namespace rung::emu
