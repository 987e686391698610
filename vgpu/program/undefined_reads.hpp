#pragma once
// Finds reads of registers that were never written.

#include <cstddef>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/copied_loads.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The first read of a register that some path reaches without writing it.
struct UndefinedRead {
  int reg;
  std::size_t instruction;  // in Function::body
  /// True if no path writes the register before. If false, the program may still be correct:
  /// compilers leave a register undefined if they know that its value does not matter.
  bool never_written;
};

/// The reads, by register. A guarded write counts for all lanes, because the read may have the same
/// guard.
std::vector<UndefinedRead> undefined_reads(const ptx::Function& function, const Cfg& cfg);

/// Where undefined values come from: a register that is read before it is written or, at
/// Function::registers.size() and above, a load, by its index in Function::body.
///
/// Returns the first source of each register that may hold an undefined value, and -1 for all others. Values from other
/// lanes, and loaded values, count as defined, except values from shared memory that are only copied. `tracked`: if not
/// empty, the loads (by index) that are sources too; then shuffles pass on undefined values.
std::vector<int> undefined_sources(const ptx::Function& function,
                                   const std::vector<UndefinedRead>& reads,
                                   const CopiedLoads& copied, const std::vector<bool>& tracked);

/// The loads from shared memory whose values can be tracked, by index in Function::body; empty without any.
std::vector<bool> trackable_loads(const ptx::Function& function);

/// True if an instruction's results are undefined when its operands are.
bool passes_undefined(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
