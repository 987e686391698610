#pragma once
// Live registers at the boundaries of basic blocks.

#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/register_set.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct Liveness {
  std::vector<RegisterSet> in, out;  // by block
  /// The most 32-bit registers live at once, without predicates: an estimate of ptxas's allocation.
  int max_pressure = 0;
};

/// Solves the data-flow equations (A. W. Appel, "Modern Compiler Implementation in ML", 10.1). A
/// guarded write ends no range, because other lanes keep their values.
Liveness live_registers(const ptx::Function& function, const Cfg& cfg);

}  // namespace rung::vgpu
