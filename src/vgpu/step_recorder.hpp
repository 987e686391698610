#pragma once
// The instructions of a few warps of block 0, one after the other, with what their accesses touch:
// the input of the page that steps through them.

#include <string>

#include "vgpu/launch.hpp"
#include "vgpu/model/access_watch.hpp"
#include "vgpu/model/step_watch.hpp"
#include "vgpu/step_events.hpp"

namespace rung::vgpu {

/// Observes launches, one after the other. At most one may exist at a time.
class StepRecorder {
 public:
  StepRecorder();
  StepRecorder(const StepRecorder&) = delete;
  StepRecorder& operator=(const StepRecorder&) = delete;
  ~StepRecorder();

  /// For the launch's watcher: StepWatcher alone does not tell accesses.
  void see(const WarpAccess& access);

  /// Of what was seen since the last call, as JSON:
  ///
  /// {"block": [x, y, z], "grid": [x, y, z], "shared": bytes, "cell": bytes of shared memory,
  ///  "complete": whether the whole block was recorded,
  ///  "ops": ["ld.global.f32", …], "places": ["tile.cu:31", …],
  ///  "warps": [{"warp", "instructions": executed, "shown": of them, "steps": […]}]}
  ///
  /// A step is one instruction that accesses memory or waits, or several others of one line:
  /// [place, lanes, [op, count, …], cells, skipped, access]. `cells`: those of shared memory that
  /// the block has written since the warp's last step, as pairs of first and number. `skipped`:
  /// instructions that are left out before it. `access`, if there is one: [shared, load, bytes a
  /// lane, lanes, sectors or wavefronts, base, offsets by lane or their constant difference,
  /// further accesses of the instruction].
  ///
  /// Shown are at most four warps, with different paths if they have; of each basic block the first
  /// three executions and the last; and at most 500 steps.
  std::string take(const LaunchReport& report, const Kernel& kernel);

 private:
  void see(const WarpStep& step);
  bool has_room() const;

  StepWatcher watcher_;
  StepEvents events_;
};

}  // namespace rung::vgpu
