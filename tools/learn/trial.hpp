#pragma once
// Runs a learner's kernel or a solution on the virtual GPU.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/kernel_trace.hpp"
#include "tools/learn/compile.hpp"
#include "tools/learn/exercise.hpp"
#include "tools/learn/kernel_form.hpp"
#include "vgpu/launch.hpp"

namespace rung::learn {

/// The outcome of running a module's kernel once.
struct Run {
  vgpu::LaunchReport report;
  std::vector<std::optional<ElementPlace>> elements;  // that the report's hazards are about
  std::vector<analysis::SiteCount> sites;
  std::optional<WrongResult> error;
  std::uint64_t result = 0;  // address of the results
};

/// Runs a module's kernel for problems of given sizes, on a virtual H200 or M1 Pro.
class Trial {
 public:
  explicit Trial(const Code& code);

  /// `watcher` is called for each access. Throws std::invalid_argument if no GPU supports the
  /// launch.
  Run run(const Size& size, const vgpu::AccessWatcher& watcher = {});

  /// The results of a run on other operands, without checks. Throws like run().
  std::vector<float> probe(const Size& size, const Probe& probe);

  /// The grid and the block of a launch. Throws like run().
  LaunchShape launch_shape(const Size& size);

  /// The instructions executed by a few warps, as JSON (vgpu/step_recorder.hpp). Throws like run().
  std::string steps(const Size& size);

  /// Locations in the kernel, as referenced by its accesses.
  const std::vector<vgpu::Site>& kernel_sites() const;

 private:
  Run run(const Size& size, const LaunchShape& shape, const vgpu::AccessWatcher& watcher);
  vgpu::LaunchReport launch(const vgpu::Kernel& kernel, const vgpu::LaunchOptions& options,
                            const std::vector<std::uint64_t>& values);
  LaunchShape dispatch_shape(const Size& size) const;
  const vgpu::Kernel& find_kernel() const;

  const KernelForm& form_;
  Language language_;
  std::string target_;
  vgpu::DeviceMemory memory_;
  std::unique_ptr<vgpu::Module> module_;
};

}  // namespace rung::learn
