#pragma once
// Which registers hold a value that is still wanted.

#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/register_set.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct Liveness {
  std::vector<RegisterSet> in, out;  // by block
  /// The most 32-bit registers alive at once, predicates apart: about what ptxas will take.
  int max_pressure = 0;
};

/// By the data-flow equations (A. W. Appel, "Modern Compiler Implementation in ML", 10.1). A write
/// under a guard ends no range: other lanes keep what they have.
Liveness live_registers(const ptx::Function& function, const Cfg& cfg);

}  // namespace rung::vgpu
