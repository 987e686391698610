#pragma once
// This project's compilers, run by the program that uses this library.

#include <filesystem>
#include <string>
#include <vector>

namespace rung::emu {

/// The program that `variable` names, or else the one beside the folder of this library in the build, or
/// in bin/ of an installed tree. Empty if neither exists.
std::filesystem::path find_tool(const std::string& name, const char* variable);

/// Runs the command with its output in `log`. True if it succeeds.
bool run_tool(const std::vector<std::string>& command, const std::filesystem::path& log);

}  // namespace rung::emu
