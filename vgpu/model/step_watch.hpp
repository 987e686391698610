#pragma once
// Reports the execution of the warps of one block, by basic block.

#include <atomic>
#include <cstdint>
#include <functional>

namespace rung::vgpu {

/// A step of block 0 of a launch, other than its accesses (model/access_watch.hpp): a warp begins a
/// basic block of the program, or a bulk copy by its thread is about to write to the block's shared
/// memory.
struct WarpStep {
  int warp = 0;
  std::uint32_t lanes = 0;        // one bit per active lane
  std::uint32_t basic_block = 0;  // index in Kernel::blocks; if bytes is 0
  std::uint32_t offset = 0, bytes = 0;
};

/// Called in program order, on the thread that runs block 0. It must not launch kernels.
using StepWatcher = std::function<void(const WarpStep& step)>;

/// The watcher of the process, or null. It may change between launches.
inline std::atomic<const StepWatcher*> step_watcher{nullptr};

}  // namespace rung::vgpu
