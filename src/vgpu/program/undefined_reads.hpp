#pragma once
// Registers that are read although nothing was written to them.

#include <cstddef>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The first read of a register that some path comes to without a write to it.
struct UndefinedRead {
  int reg;
  std::size_t instruction;  // in Function::body
  /// No path at all writes to it before. If false, it may still be right: compilers leave a
  /// register out where they know that its value does not matter.
  bool never_written;
};

/// By register. A write under a guard counts for all lanes: the read may have the same guard.
std::vector<UndefinedRead> undefined_reads(const ptx::Function& function, const Cfg& cfg);

/// Registers that may hold an undefined value: for each the one, read too early, that it comes from
/// first; -1 for all others. What is loaded, or comes from other lanes, is taken for defined.
std::vector<int> undefined_sources(const ptx::Function& function,
                                   const std::vector<UndefinedRead>& reads);

/// Whether an instruction's results are undefined if its operands are.
bool passes_undefined(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
