#pragma once
// Registers that wgmma works on must be left alone until wgmma.wait_group, and what was written to
// them needs a wgmma.fence before the first (PTX ISA, 9.7.15.6 and .7). Both are seen in the text,
// on every path through it.

#include <cstddef>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct WgmmaRegisterUse {
  std::size_t instruction;
  int reg;
  bool in_flight;     // else: wgmma takes it, and there was no fence since it was written
  std::size_t wgmma;  // in flight: which one
};

/// At most one for an instruction, in the order of the text. Copies from register to register count
/// as another name: compilers make them around inline assembly, and ptxas removes them.
std::vector<WgmmaRegisterUse> wgmma_register_uses(const ptx::Function& function, const Cfg& cfg);

}  // namespace rung::vgpu
