#pragma once
// `rung explain` for kernels of the user's program.

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "tools/analysis/explanation.hpp"
#include "tools/analysis/whole_launch.hpp"
#include "tools/report/output_file.hpp"

namespace rung {

struct FileToExplain {
  std::string source;  // a CUDA program
  /// The text to compile instead, which includes the source; empty: the source itself.
  std::string program;
  std::string kernel;  // the name of one of its kernels, without parameters; all if empty
  std::vector<std::string> arguments;      // of the program
  std::vector<std::string> compiled_with;  // options for the compiler: "-Iinclude", "-DN=4"
  analysis::ExplainOptions options;
  std::optional<OutputFile> output;  // JSON
  std::optional<OutputFile> page;
  std::string baseline;  // JSON of an earlier version, to compare with; empty: none given
  std::string call;      // what rung calls in a file without main(): "gemm f32 4096x4096x4096"
  /// If the call takes too long for the virtual GPU: the program makes the calls of the sample if
  /// its arguments are the whole's rows and their sizes. Without arguments, it makes a shorter one.
  std::optional<analysis::SampledProduct> sample = std::nullopt;
  std::string shorter_call = "";  // describes the latter, as `call` does
};

/// Compiles and runs the program as `rung emu` does, with its usual output, says what hazards it
/// has, and explains its kernels, the one with the longest launch first. Hazards are exit_wrong.
/// Throws UsageError and UnavailableError.
ExitCode explain_file(const FileToExplain& file);

}  // namespace rung
