#pragma once
// Launches one kernel on the virtual GPU, with arguments given as text.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/any_kernel/expectation.hpp"
#include "tools/any_kernel/program.hpp"
#include "tools/any_kernel/values.hpp"
#include "vgpu/launch.hpp"

namespace rung::any_kernel {

struct LaunchRequest {
  std::vector<std::pair<std::string, std::string>> arguments;  // by name or index
  std::vector<std::string>
      outputs;  // parameters that are memory without a value, unless they have one
  std::vector<std::string> expectations;
  Tolerance tolerance;
  std::optional<vgpu::Dim3> threads;  // of the whole grid, as dispatchThreads in Metal
  vgpu::Dim3 groups, group;           // without `threads`: blocks of the grid; threads of a block
  std::int64_t dynamic_shared = 0;    // bytes
  std::uint64_t seed = 1;
  unsigned cpu_threads = 0;  // 0: all
  bool observe = true;
  vgpu::DeviceDescription device;
  /// Called after the launch.
  std::function<void(const vgpu::LaunchReport&, const vgpu::Kernel&)> observer;
};

/// A buffer after the launch.
struct Result {
  std::string name;
  Array array;
  std::int64_t unwritten = 0;  // elements without a value
  bool is_changed = true;      // false for an input of a type without const
};

struct Outcome {
  vgpu::LaunchReport report;  // whose hazards name parameters and indices
  std::vector<vgpu::Site> sites;
  std::vector<Result> results;        // the buffers that the kernel may write
  std::vector<Judgement> judgements;  // none if the launch failed

  /// True without hazards, if all results are as expected.
  bool is_right() const;
};

/// Throws ArgumentError for arguments that do not fit the kernel, before anything runs.
Outcome launch(const Program& program, const Kernel& kernel, const LaunchRequest& request);

/// The result of a parameter, by name or index. Throws ArgumentError.
const Result& find_result(const Kernel& kernel, const Outcome& outcome, const std::string& name);

/// True for a hazard that makes the run fail: writes of the same value do not.
bool fails(const vgpu::Hazard& hazard);

}  // namespace rung::any_kernel
