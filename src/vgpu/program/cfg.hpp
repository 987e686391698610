#pragma once
// The control-flow graph of a function.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Instructions that run one after the other. A block also ends behind every instruction that a
/// warp may have to wait at (barriers), so that warps change over at ends of blocks only.
struct CfgBlock {
  std::size_t first = 0, count = 0;  // in Function::body
  /// Of a guarded branch: the target, then the next block. `to_exit` where lanes end; a branch to a
  /// block that does nothing but exit is an exit itself, as ptxas makes it one: lanes that leave a
  /// kernel early must not be waited for.
  std::vector<int> successors;
  std::vector<int> predecessors;
  /// What its edges to the exit are, if it has any. Ordered: a later one is the more usual end.
  enum class WayOut : std::uint8_t { none, trap, exit, ret };
  WayOut way_out = WayOut::none;
  /// Holds a barrier, or an instruction that works on several lanes of a warp together.
  bool synchronises = false;
  bool indirect = false;  // ends with brx
  /// The block where lanes that part here meet again (program/reconvergence.hpp): the nearest block
  /// that every path from here passes, apart from paths that end early; -1 if there is none.
  int immediate_post_dominator = -1;
  /// A loop begins here: a path from here leads back to here, and a walk from the entry comes to
  /// this block of the loop first.
  bool loop_header = false;
};

inline constexpr int to_exit = -1;

struct Cfg {
  /// In the order of the text, those that nothing leads to among them; [0] is the entry.
  std::vector<CfgBlock> blocks;
};

Cfg control_flow(const ptx::Function& function);

/// Whether what it does depends on which lanes of the warp run it together.
bool synchronises(const ptx::Instruction& instruction);
/// A barrier, or another instruction that may suspend its warp.
bool may_suspend(const ptx::Instruction& instruction);
/// bra, brx, exit, ret and trap.
bool ends_block(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
