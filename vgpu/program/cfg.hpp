#pragma once
// The control-flow graph of a function.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// A basic block. It also ends after every instruction at which a warp may have to wait, such as a
/// barrier, so the scheduler switches warps only at the ends of blocks.
struct CfgBlock {
  std::size_t first = 0, count = 0;  // in Function::body
  /// For a guarded branch: the target, then the next block. `to_exit` represents the exit. As in
  /// ptxas, a branch to a block that only exits counts as an exit, because other lanes must not
  /// wait for lanes that leave a kernel early.
  std::vector<int> successors;
  std::vector<int> predecessors;
  /// The kind of its edges to the exit, if it has any. In ascending order of how usual they are as
  /// ends of a kernel.
  enum class WayOut : std::uint8_t { none, trap, exit, ret };
  WayOut way_out = WayOut::none;
  /// Contains a barrier or a warp-wide instruction.
  bool synchronises = false;
  bool indirect = false;  // ends with brx
  /// Calls through the call stack (lowering/call_stack.hpp): the block to which the callee returns,
  /// and true for a block that ends with such a return.
  int call_returns_to = -1;
  bool returns = false;
  /// Where lanes that diverge here reconverge (program/reconvergence.hpp): the nearest block on
  /// every path from here, except for paths that end early; -1 if no such block exists.
  int immediate_post_dominator = -1;
  /// True for the header of a loop: a path leads from here back to here, and this is the first
  /// block of the loop that a depth-first traversal from the entry reaches.
  bool loop_header = false;
};

inline constexpr int to_exit = -1;

struct Cfg {
  /// In textual order, including unreachable blocks; [0] is the entry.
  std::vector<CfgBlock> blocks;
};

Cfg control_flow(const ptx::Function& function);

/// True if the instruction's effect depends on which lanes of the warp execute it together.
bool synchronises(const ptx::Instruction& instruction);
/// True for barriers and other instructions that may suspend their warp.
bool may_suspend(const ptx::Instruction& instruction);
/// True for bra, brx, exit, ret and trap.
bool ends_block(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
