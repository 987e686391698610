#pragma once
// A learner's kernel, or a solution, run on the virtual GPU.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/kernel_trace.hpp"
#include "learn/compile.hpp"
#include "learn/exercise.hpp"
#include "learn/kernel_form.hpp"
#include "vgpu/launch.hpp"

namespace rung::learn {

/// One run of a module's kernel.
struct Run {
  vgpu::LaunchReport report;
  std::vector<analysis::SiteCount> sites;
  std::optional<WrongResult> error;
  std::uint64_t result = 0;  // where these are
};

/// A module with a problem of one size. On a virtual H200, or M1 Pro.
class Trial {
 public:
  explicit Trial(const Code& code);

  /// `watcher` sees each access. Throws std::invalid_argument for a launch that no GPU takes.
  Run run(const Size& size, const vgpu::AccessWatcher& watcher = {});

  /// The instructions of a few warps, as JSON (vgpu/step_recorder.hpp). Throws as run() does.
  std::string steps(const Size& size);

  /// Of the kernel, as its accesses name them.
  const std::vector<vgpu::Site>& kernel_sites() const;

 private:
  Run run(const Size& size, const LaunchShape& shape, const vgpu::AccessWatcher& watcher);
  vgpu::LaunchReport launch(const vgpu::Kernel& kernel, const vgpu::LaunchOptions& options,
                            const std::vector<std::uint64_t>& values);
  LaunchShape launch_shape(const Size& size);
  LaunchShape dispatch_shape(const Size& size) const;
  const vgpu::Kernel& find_kernel() const;

  const KernelForm& form_;
  Language language_;
  vgpu::DeviceMemory memory_;
  std::unique_ptr<vgpu::Module> module_;
};

}  // namespace rung::learn
