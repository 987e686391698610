#pragma once
// The time of tensor-core instructions.

#include "tools/analysis/diagnosis/facts.hpp"
#include "tools/analysis/machine.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

/// The tensor-core cycles of one warp's share of mma, wmma.mma or wgmma. Returns 0 for other
/// instructions, and if the machine has no rate for the type.
double tensor_core_cycles(const vgpu::ptx::Instruction& instruction,
                          const vgpu::DeviceDescription& device, const Machine& machine);

/// The tensor-core cycles of all tcgen05.mma of a launch. Their shapes are in descriptors, so the cycles follow from
/// the counted multiply-adds. They achieve the share of wgmma: no GPU with tcgen05 was at hand.
double tcgen05_cycles(const Facts& facts);

}  // namespace rung::analysis::diagnosis
