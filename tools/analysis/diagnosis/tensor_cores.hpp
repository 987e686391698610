#pragma once
// The time of tensor-core instructions.

#include "tools/analysis/machine.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

/// The tensor-core cycles of one warp's share of mma, wmma.mma or wgmma. Returns 0 for other
/// instructions, and if the machine has no rate for the type.
double tensor_core_cycles(const vgpu::ptx::Instruction& instruction,
                          const vgpu::DeviceDescription& device, const Machine& machine);

}  // namespace rung::analysis::diagnosis
