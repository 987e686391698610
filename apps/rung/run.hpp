#pragma once
// Launches of one kernel of a file, for `rung run`, and for check, trace and explain with a grid.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command.hpp"
#include "launch_arguments.hpp"
#include "tools/analysis/explanation.hpp"
#include "tools/analysis/launch_watch.hpp"

namespace rung {

struct RunOptions {
  bool with_lines = false;
  bool observe = true;
  unsigned threads = 0;                     // of the CPU; 0: all
  std::string json;                         // empty: none
  std::vector<std::uint64_t> orders = {0};  // OrderArguments::orders()
  bool keeps_stdout = false;                // for other output: results go to stderr
  /// Called after each launch.
  std::function<void(const vgpu::LaunchReport&, const vgpu::Kernel&)> observer = {};
};

/// Launches the kernel, and prints results, counters and hazards.
ExitCode run_launch(const LaunchedFile& file, const LaunchArguments& arguments,
                    const RunOptions& options);

/// Launches the kernel, and explains its performance. `json` and `html` are paths, or empty.
ExitCode explain_launch(const LaunchedFile& file, const LaunchArguments& arguments,
                        const analysis::ExplainOptions& options, const std::string& json,
                        const std::string& html);

/// Explains a launch of the program's kernel that was watched.
analysis::Explanation explanation_of(const any_kernel::Program& program, const std::string& kernel,
                                     const analysis::WatchedLaunch& seen,
                                     const analysis::ExplainOptions& options);

/// Throws UsageError for arguments of a launch where no file of the user's is named.
void require_kernel_file(const std::string& what, const LaunchArguments& arguments);

}  // namespace rung
