#pragma once
// Instructions of clusters and the async proxy that do not access memory: barrier.cluster, mapa,
// getctarank, fence.proxy.async, fence.mbarrier_init, setmaxnreg (PTX ISA, 9.7.13.4, 9.7.9.23 and
// .24, 9.7.13.3, 9.7.19.5).

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Returns the specification of such an instruction; nullopt for others.
std::optional<OpSpec> cluster_instruction(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
