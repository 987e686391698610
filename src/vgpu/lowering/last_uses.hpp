#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/program/cfg.hpp"
#include "vgpu/program/register_set.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Fills in Instr::last_use of a basic block's instructions, `code`. `live_behind`: the registers
/// that other blocks read; `rows`: each register's row, which several may share.
void find_last_uses(std::span<Instr> code, const ptx::Function& function, const CfgBlock& block,
                    const RegisterSet& live_behind, const std::vector<std::uint32_t>& rows);

}  // namespace rung::vgpu
