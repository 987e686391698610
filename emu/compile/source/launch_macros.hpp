#pragma once
// Macros that launch kernels. The same macro may stand in functions of the host and of the device, so
// that it gets a second form for these.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rung::emu {

/// One that a directive defines, with `<<<` in its text.
struct LaunchMacro {
  std::string_view name;
  std::string_view parameters;  // with parentheses; empty for a macro without parameters
  std::string_view body;
  std::size_t end;  // of the directive, before the line's end
};

std::vector<LaunchMacro> launch_macros(std::string_view text);

/// The names of those that stand in functions of the device, in any file of a program.
using LaunchMacroNames = std::set<std::string, std::less<>>;

}  // namespace rung::emu
