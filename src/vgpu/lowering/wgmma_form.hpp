#pragma once
// Parses the mnemonic of a wgmma.

#include <optional>

#include "vgpu/model/async_ops.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The shape and types of a wgmma.mma_async; nothing if there is no such form.
std::optional<WgmmaOp> wgmma_form(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
