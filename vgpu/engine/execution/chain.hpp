#pragma once
// Machine code of a kernel that runs from basic block to basic block, as long as the lanes of a
// split take the same branches.

#include <cstdint>

#include "vgpu/engine/execution/worker.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

struct Chain {
  /// Input of the code, and the counters that it updates.
  struct State {
    Warp* warp;
    const Split* split;  // the warp's current one
    std::uint64_t* spent;
    const int* polls;
    Worker::Executions* executions;
    std::uint64_t end;             // of the turn, as a value of *spent
    std::uint64_t idle_lanes = 0;  // number of lanes missing from the split
  };
  /// Where and why the code stopped.
  struct Stop {
    enum class Reason : std::int32_t {
      pause,     // before the block: the split waits, or the turn is over
      decision,  // at the end of the block: lanes diverge, exit, or select their targets
      arrival,   // before the block, at which the split joins its parent
      exchange   // before the block, in which lanes may wait for other lanes of the warp
    };
    std::int32_t block;
    Reason reason;
  };
  using Function = Stop (*)(const State& state, const void* block);

  /// Maximum number of volatile, relaxed and acquiring loads per turn. A warp that executes more is
  /// polling.
  static constexpr int max_polls = 64;

  /// Runs from `block` on with all 32 lanes. No lane waits for others.
  Stop run(const State& state, int block) const { return function(state, whole[block]); }
  /// Runs from `block` on with a part of a warp, or with all live lanes if some have exited.
  Stop run_part(const State& state, int block) const { return function(state, part[block]); }

  Function function = nullptr;
  const void* const* whole = nullptr;  // code addresses by block
  const void* const* part = nullptr;
};

/// The kernel's chain, or null if the kernel is not translated.
inline const Chain* chain_of(const Kernel& kernel) {
  return static_cast<const Chain*>(kernel.machine_code.get());
}

}  // namespace rung::vgpu
