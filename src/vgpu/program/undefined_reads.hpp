#pragma once
// Reads of registers that were never written.

#include <cstddef>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/copied_loads.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The first read of a register that some path reaches without a write to it.
struct UndefinedRead {
  int reg;
  std::size_t instruction;  // in Function::body
  /// No path writes it before. If false, the program may still be correct: compilers leave a
  /// register undefined if they know that its value does not matter.
  bool never_written;
};

/// By register. A guarded write counts for all lanes, because the read may have the same guard.
std::vector<UndefinedRead> undefined_reads(const ptx::Function& function, const Cfg& cfg);

/// For each register that may hold an undefined value, the first register that was read too early
/// and that its value comes from; -1 for all others. Values from other lanes, and loaded ones, count
/// as defined, other than those of shared memory that are only copied.
std::vector<int> undefined_sources(const ptx::Function& function,
                                   const std::vector<UndefinedRead>& reads,
                                   const CopiedLoads& copied);

/// Whether an instruction's results are undefined if its operands are.
bool passes_undefined(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
