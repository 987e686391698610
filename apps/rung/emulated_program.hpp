#pragma once
// Runs a program whose CUDA calls the virtual GPU answers, and prints and writes what they reported: what `rung emu`
// and `rung python` share.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "emu/reports/conclusion.hpp"
#include "orders.hpp"
#include "tools/report/output_file.hpp"
#include "vgpu/model/device.hpp"

namespace rung {

struct EmulationArguments : OrderArguments {
  std::string gpu;  // empty: h200
  bool no_check = false, lines = false, ci = false, no_order = false, leak_check = false;
  bool gen_suppressions = false, allow_unchecked_errors = false;
  std::string threads, limit, launches, devices, json;
  std::vector<std::string> suppressions;
  std::string error_exit_code, fail_on, junit, sarif;
};

/// Adds the options of EmulationArguments.
void add_emulation_options(Options& app, EmulationArguments& arguments);

/// One run. The constructor checks everything that was given, and throws UsageError.
class EmulatedProgram {
 public:
  explicit EmulatedProgram(const EmulationArguments& arguments);

  const vgpu::DeviceDescription& gpu() const { return gpu_; }

  /// Runs the command with `variables` in its environment, once in each order, and reports. `source` is the file that the command runs:
  /// reports name it, and tables of lines quote it. Returns the program's exit code, or 1 if hazards were found.
  ExitCode run(const std::vector<std::string>& command, const std::string& source,
               std::vector<std::pair<std::string, std::string>> variables = {}) const;

 private:
  EmulationArguments arguments_;
  vgpu::DeviceDescription gpu_;
  std::vector<std::uint64_t> orders_;
  emu::ReportOptions options_;
  // The files that the run leaves.
  std::optional<OutputFile> json_, junit_, sarif_;
};

}  // namespace rung
