#pragma once
// Launches that repeat one that changed nothing, as programs make them to time a kernel. Arguments
// and memory determine what a kernel writes. If a launch left all memory as it found it, the same
// launch in the same memory does so, too, with the same counters and hazards: it need not run again.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/model/launch.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::driver {

struct ContextState;

/// A launch, as far as its results depend on it.
struct LaunchKey {
  const void* kernel;
  std::vector<std::uint64_t> extents;  // of grid, block and cluster; shared memory; flags
  std::vector<std::byte> parameters;

  LaunchKey(const void* of, const LaunchOptions& options, std::vector<std::byte> values);
  auto operator<=>(const LaunchKey&) const = default;
};

/// The last run of a launch.
struct RememberedLaunch {
  LaunchReport report;
  std::optional<std::uint64_t> memory;  // hash of all memory after it, if that took little
  bool changed_nothing = false;
};

/// The launches of a context.
class LaunchMemo {
 public:
  /// The earlier run whose results the launch would have; null if it must run. Call before a run,
  /// and remember() after it.
  const RememberedLaunch* find(const LaunchKey& key, const ContextState& context);
  void remember(const LaunchKey& key, const ContextState& context, const LaunchReport& report);
  /// The number of runs with the kernel, grid, block, cluster and shared memory of the launch,
  /// whatever its arguments, including this one.
  std::uint64_t count(const LaunchKey& key);

  /// Counts a run.
  void note_run(const std::string& kernel, bool observed);

  /// The number of launches of a kernel that ran, that did not run again, and that ran unobserved.
  struct Launches {
    std::uint64_t ran = 0, repeated = 0, unobserved = 0;
  };
  const std::map<std::string, Launches>& launches() const { return by_name_; }

 private:
  std::map<LaunchKey, RememberedLaunch> launches_;
  std::map<std::string, Launches> by_name_;
  std::map<std::pair<const void*, std::vector<std::uint64_t>>, std::uint64_t> counts_;
  std::optional<std::uint64_t> before_;  // hash of memory before the launch that runs
};

/// False if the text has instructions whose results do not depend on memory alone, or whose effects
/// are elsewhere: clocks, printf, launches by kernels.
bool depends_on_memory_only(const ptx::Module& text);

}  // namespace rung::vgpu::driver
