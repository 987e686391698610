#pragma once
// The arguments that launch one kernel of a file: of `rung run`, and of check, trace and explain when they
// are given a grid.

#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "tools/any_kernel/launch.hpp"
#include "tools/any_kernel/program.hpp"

namespace rung {

class Options;

struct LaunchArguments {
  std::vector<std::string> values;  // NAME=VALUE
  std::string grid, groups, group, shared, limit, seed, rtol, atol;
  std::vector<std::string> buffers, outputs, saved, expected;

  void add_launch(Options& app);
  /// Adds --seed, for commands that do not have it for other problems.
  void add_seed(Options& app);
  /// True if a grid or an argument of the kernel is given.
  bool any() const;
};

struct LaunchedFile {
  std::string file;  // FILE or FILE:KERNEL
  std::vector<std::string> include_folders, definitions;
  std::string gpu;
  std::vector<std::pair<std::string, std::string>> arguments = {};  // of the kernel, by name
  bool is_list = false;                                             // ProgramRequest::is_list
};

/// The compiled file and its kernel, and a launch of it.
class KernelLaunch {
 public:
  /// Throws UsageError; UnavailableError without a compiler.
  KernelLaunch(const LaunchedFile& file, const LaunchArguments& arguments);
  KernelLaunch(const KernelLaunch&) = delete;
  KernelLaunch& operator=(const KernelLaunch&) = delete;

  const any_kernel::Program& program() const { return program_; }
  const any_kernel::Kernel& kernel() const { return *kernel_; }
  /// For changes before the launch.
  any_kernel::LaunchRequest& request() { return request_; }
  const vgpu::DeviceDescription& device() const { return request_.device; }
  /// "scan.cu: scan<float> on virtual NVIDIA H200 (…)", the compiler, and the grid.
  std::string head() const;

  /// Runs the kernel, and writes the files of --save and --out. Throws UsageError.
  any_kernel::Outcome run() const;

 private:
  any_kernel::Program program_;
  const any_kernel::Kernel* kernel_ = nullptr;
  any_kernel::LaunchRequest request_;
  std::vector<std::pair<std::string, std::string>> saved_;  // parameters, files
};

/// Compiles a file. Throws UsageError; UnavailableError without a compiler.
any_kernel::Program compile_kernels(const LaunchedFile& file);

}  // namespace rung
