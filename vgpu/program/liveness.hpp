#pragma once
// Live registers at the boundaries of basic blocks.

#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/register_set.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct Liveness {
  std::vector<RegisterSet> in, out;  // by block
  /// Maximum number of 32-bit registers live at once, excluding predicates: an estimate of ptxas's
  /// allocation.
  int max_pressure = 0;
};

/// Solves the data-flow equations (A. W. Appel, "Modern Compiler Implementation in ML", 10.1). A
/// guarded write does not end a range, because other lanes keep their values.
Liveness live_registers(const ptx::Function& function, const Cfg& cfg);

}  // namespace rung::vgpu
