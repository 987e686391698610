#pragma once
// The control-flow graph of a function.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// A basic block. It also ends after every instruction at which a warp may have to wait, such as a
/// barrier, so that the scheduler switches warps only at ends of blocks.
struct CfgBlock {
  std::size_t first = 0, count = 0;  // in Function::body
  /// For a guarded branch, the target, then the next block. `to_exit` stands for the exit. A branch
  /// to a block that only exits counts as an exit itself, as in ptxas, because lanes that leave a
  /// kernel early must not be waited for.
  std::vector<int> successors;
  std::vector<int> predecessors;
  /// The kind of its edges to the exit, if it has any. The order matters: later ones are the more
  /// usual ends of a kernel.
  enum class WayOut : std::uint8_t { none, trap, exit, ret };
  WayOut way_out = WayOut::none;
  /// Contains a barrier or a warp-wide instruction.
  bool synchronises = false;
  bool indirect = false;  // ends with brx
  /// Calls by the call stack (lowering/call_stack.hpp): the block that the callee returns to, and
  /// whether the block's end is such a return.
  int call_returns_to = -1;
  bool returns = false;
  /// Where lanes that diverge here reconverge (program/reconvergence.hpp): the nearest block on
  /// every path from here, except for paths that end early; -1 if there is none.
  int immediate_post_dominator = -1;
  /// The header of a loop: a path leads from here back to here, and a depth-first walk from the
  /// entry reaches this block of the loop first.
  bool loop_header = false;
};

inline constexpr int to_exit = -1;

struct Cfg {
  /// In text order, including unreachable blocks; [0] is the entry.
  std::vector<CfgBlock> blocks;
};

Cfg control_flow(const ptx::Function& function);

/// Whether its effect depends on which lanes of the warp execute it together.
bool synchronises(const ptx::Instruction& instruction);
/// A barrier, or another instruction that may suspend its warp.
bool may_suspend(const ptx::Instruction& instruction);
/// bra, brx, exit, ret and trap.
bool ends_block(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
