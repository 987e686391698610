#pragma once
// Arrays of variable size that are declared with zeros, which GCC takes in host code.

#include <string>

namespace rung::emu {

/// `int seen[n] = {0};` becomes `int seen[n]; __builtin_memset(seen, 0, sizeof(seen));` where n is a
/// variable that the text declares before, and the elements are numbers or pointers. clang takes no
/// initialiser there.
std::string zero_variable_arrays(const std::string& text);

}  // namespace rung::emu
