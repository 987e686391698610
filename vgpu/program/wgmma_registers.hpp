#pragma once
// Checks, by data-flow analysis of every path, that registers of a wgmma are not accessed until
// wgmma.wait_group, and that a wgmma.fence is between a write to a register and the first wgmma
// that uses it (PTX ISA, 9.7.15.6 and .7).

#include <cstddef>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct WgmmaRegisterUse {
  std::size_t instruction;
  int reg;
  bool in_flight;     // otherwise: used by a wgmma without a fence since it was written
  std::size_t wgmma;  // if in flight: the wgmma that uses it
};

/// The invalid uses, at most one per instruction, in textual order. Copies between registers count
/// as aliases, because compilers insert them around inline assembly and ptxas removes them.
std::vector<WgmmaRegisterUse> wgmma_register_uses(const ptx::Function& function, const Cfg& cfg);

}  // namespace rung::vgpu
