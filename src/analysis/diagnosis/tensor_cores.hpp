#pragma once
// How long tensor cores take for an instruction.

#include "analysis/machine.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

/// Cycles of an SM's tensor cores for one warp's part of mma, wmma.mma or wgmma; 0 for others, and
/// where the machine has no rate for the type.
double tensor_core_cycles(const vgpu::ptx::Instruction& instruction,
                          const vgpu::DeviceDescription& device, const Machine& machine);

}  // namespace rung::analysis::diagnosis
