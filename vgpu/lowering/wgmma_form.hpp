#pragma once
// Parses the mnemonic of a wgmma.

#include <optional>

#include "vgpu/model/async_ops.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The shape and types of a wgmma.mma_async; nullopt for forms that do not exist.
std::optional<WgmmaOp> wgmma_form(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
