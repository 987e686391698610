#pragma once
// Machine code of a kernel that goes from basic block to basic block, as long as the lanes of a split
// do so together.

#include <cstdint>

#include "vgpu/engine/execution/worker.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

struct Chain {
  /// What the code reads, and counts in.
  struct State {
    Warp* warp;
    const Split* split;  // the warp's current one
    std::uint64_t* spent;
    const int* polls;
    Worker::Executions* executions;
    std::uint64_t end;             // of the turn, in warp instructions
    std::uint64_t idle_lanes = 0;  // those that the split does not have
  };
  /// Where the code has stopped, and why.
  struct Stop {
    enum class Reason : std::int32_t {
      pause,     // before the block: the split waits, or the turn has ended
      decision,  // at the block's end: lanes diverge, exit or choose their targets
      arrival,   // before the block: where the split joins its parent
      exchange   // before the block: in it, lanes may wait for others of the warp
    };
    std::int32_t block;
    Reason reason;
  };
  using Function = Stop (*)(const State& state, const void* block);

  /// Volatile, relaxed and acquiring loads per turn. A warp that executes more is polling.
  static constexpr int most_polls = 64;

  /// Runs blocks from that one on for all 32 lanes, none of which waits for others.
  Stop run(const State& state, int block) const { return function(state, whole[block]); }
  /// The same for a part of a warp, or of its live lanes.
  Stop run_part(const State& state, int block) const { return function(state, part[block]); }

  Function function = nullptr;
  const void* const* whole = nullptr;  // the code of each block
  const void* const* part = nullptr;
};

/// The kernel's chain; null if it is not translated.
inline const Chain* chain_of(const Kernel& kernel) {
  return static_cast<const Chain*>(kernel.machine_code.get());
}

}  // namespace rung::vgpu
