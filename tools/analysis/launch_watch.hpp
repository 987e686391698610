#pragma once
// Observes a launch on the virtual GPU in this process by access: the input of a diagnosis.

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/kernel_trace.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/footprint.hpp"
#include "vgpu/step_recorder.hpp"

namespace rung::analysis {

struct WatchedLaunch {
  vgpu::LaunchReport report;
  std::vector<SiteCount> sites;
  vgpu::Footprint footprint;
  std::string steps;  // JSON (vgpu/step_recorder.hpp); empty unless requested
};

/// Watches accesses during its lifetime. At most one object may exist. Footprints assume that
/// blocks run one after the other: launch with one thread.
class LaunchWatch {
 public:
  explicit LaunchWatch(bool with_steps) {
    if (with_steps) steps_.emplace();
    vgpu::set_access_watcher([this](const vgpu::WarpAccess& access) {
      footprint_.see(access);
      if (steps_) steps_->see(access);
    });
  }
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;
  ~LaunchWatch() { vgpu::set_access_watcher({}); }

  /// The data since the last call, for the observer of a launch.
  WatchedLaunch take(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
    const std::vector<vgpu::Site>& sites = vgpu::sites(kernel);
    return {report, site_counts(report, sites), footprint_.take(sites),
            steps_ ? steps_->take(report, kernel) : ""};
  }

 private:
  vgpu::FootprintRecorder footprint_;
  std::optional<vgpu::StepRecorder> steps_;
};

}  // namespace rung::analysis
