#pragma once
// Records the instructions of a few warps of block 0, in order, with the addresses of their
// accesses: the input of the page that steps through them.

#include <string>

#include "vgpu/launch.hpp"
#include "vgpu/model/access_watch.hpp"
#include "vgpu/model/step_watch.hpp"
#include "vgpu/step_events.hpp"

namespace rung::vgpu {

/// Observes consecutive launches. At most one may exist at a time.
class StepRecorder {
 public:
  StepRecorder();
  StepRecorder(const StepRecorder&) = delete;
  StepRecorder& operator=(const StepRecorder&) = delete;
  ~StepRecorder();

  /// Call from the launch's watcher: a StepWatcher alone does not receive accesses.
  void see(const WarpAccess& access);

  /// Returns the events since the last call, as JSON:
  ///
  /// {"block": [x, y, z], "grid": [x, y, z], "shared": bytes, "cell": bytes of shared memory,
  ///  "complete": true if the whole block was recorded,
  ///  "ops": ["ld.global.f32", …], "places": ["tile.cu:31", …],
  ///  "warps": [{"warp", "instructions": executed, "shown": number shown, "steps": […]}]}
  ///
  /// A step is one instruction that accesses memory or waits, or several others of one line:
  /// [place, lanes, [op, count, …], cells, skipped, access]. `cells`: cells of shared memory that
  /// the block has written since the warp's last step, as pairs of first and count. `skipped`:
  /// number of instructions omitted before it. `access`, if the step has one: [shared, load, bytes
  /// per lane, lanes, sectors or wavefronts, base, offsets by lane or their constant difference,
  /// further accesses of the instruction].
  ///
  /// Shows at most four warps, with different paths if possible; for each basic block, the first
  /// three executions and the last; and at most 500 steps.
  std::string take(const LaunchReport& report, const Kernel& kernel);

 private:
  void see(const WarpStep& step);
  bool has_room() const;

  StepWatcher watcher_;
  StepEvents events_;
};

}  // namespace rung::vgpu
