#pragma once
// Programs of the CUDA toolkit, where they are installed.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rung::analysis {

/// Of that name on the PATH or in /usr/local/cuda/bin; empty if it is in neither.
std::string find_tool(const std::string& name);

/// What ptxas takes as -arch for PTX on a device of that compute capability times ten: "sm_90", or
/// "sm_90a" where the text is for that alone.
std::string ptxas_architecture(std::string_view ptx, int arch);

struct ToolOutput {
  int exit_code;
  std::string text;    // standard output
  std::string errors;  // standard error
};

/// Runs a program to its end, with nothing on its standard input. Throws std::runtime_error if
/// that is not possible.
ToolOutput run_tool(const std::vector<std::string>& command);

/// A folder of its own, gone with all that is in it.
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
