#pragma once
// Registers that are read although nothing was written to them.

#include <cstddef>
#include <vector>

#include "vgpu/program/cfg.hpp"

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

}  // namespace rung::vgpu
