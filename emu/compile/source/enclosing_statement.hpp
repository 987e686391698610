#pragma once
// Finds conditional statements in a source.

#include <string_view>

namespace rung::emu {

/// True if an `if`, `for` or `while` whose condition includes line `condition` has a statement that includes
/// `line`, other than by an early return: `if (i >= n) return; else …` encloses nothing.
bool encloses(std::string_view text, int condition, int line);

}  // namespace rung::emu
