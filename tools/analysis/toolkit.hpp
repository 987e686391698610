#pragma once
// Programs of the CUDA Toolkit, if installed.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rung::analysis {

/// The path of the program, from PATH or /usr/local/cuda/bin; empty if found in neither.
std::string find_tool(const std::string& name);

/// The value of -arch for ptxas, for a device with this compute capability times ten: "sm_90", or
/// "sm_90a" for PTX that uses architecture-specific features.
std::string ptxas_architecture(std::string_view ptx, int arch);

struct ToolOutput {
  int exit_code;
  std::string text;    // standard output
  std::string errors;  // standard error
};

/// Runs a program to completion with empty standard input. Throws std::runtime_error if it cannot
/// be started.
ToolOutput run_tool(const std::vector<std::string>& command);

}  // namespace rung::analysis
