#pragma once
// Reports what warps of one block execute, basic block by basic block.

#include <atomic>
#include <cstdint>
#include <functional>

namespace rung::vgpu {

/// What block 0 of a launch does besides its accesses (model/access_watch.hpp): a warp begins a
/// basic block of the program, or a bulk copy of its thread will write to the block's shared memory.
struct WarpStep {
  int warp = 0;
  std::uint32_t lanes = 0;        // one bit per active lane
  std::uint32_t basic_block = 0;  // index in Kernel::blocks, if bytes is 0
  std::uint32_t offset = 0, bytes = 0;
};

/// Called in program order, in the thread that runs block 0. It must not launch anything.
using StepWatcher = std::function<void(const WarpStep& step)>;

/// That of the process; null if there is none. It may change between launches.
inline std::atomic<const StepWatcher*> step_watcher{nullptr};

}  // namespace rung::vgpu
