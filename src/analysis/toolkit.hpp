#pragma once
// Programs of the CUDA toolkit, if installed.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rung::analysis {

/// The path of the program, from PATH or /usr/local/cuda/bin; empty if it is in neither.
std::string find_tool(const std::string& name);

/// The -arch of ptxas for PTX on a device of that compute capability times ten: "sm_90", or
/// "sm_90a" if the text is specific to it.
std::string ptxas_architecture(std::string_view ptx, int arch);

struct ToolOutput {
  int exit_code;
  std::string text;    // standard output
  std::string errors;  // standard error
};

/// Runs a program to its end, with empty standard input. Throws std::runtime_error if it cannot be
/// run.
ToolOutput run_tool(const std::vector<std::string>& command);

/// A temporary folder, removed with its contents at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rung::analysis
