#pragma once
// Registers of a wgmma must not be accessed until wgmma.wait_group, and registers that were written
// need a wgmma.fence before the first wgmma that uses them (PTX ISA, 9.7.15.6 and .7). A data-flow
// analysis checks both on every path.

#include <cstddef>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct WgmmaRegisterUse {
  std::size_t instruction;
  int reg;
  bool in_flight;     // otherwise: wgmma uses it without a fence since it was written
  std::size_t wgmma;  // in flight: the wgmma that uses it
};

/// At most one per instruction, in text order. Copies between registers count as aliases, because
/// compilers insert them around inline assembly and ptxas removes them.
std::vector<WgmmaRegisterUse> wgmma_register_uses(const ptx::Function& function, const Cfg& cfg);

}  // namespace rung::vgpu
