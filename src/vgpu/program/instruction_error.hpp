#pragma once
// Errors that name an instruction of a module's text.

#include <string>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// "tile.cu:31"; empty if the PTX gives no location, or line 0, which marks code of the compiler's
/// own.
std::string source_of(const ptx::Module& module, const ptx::Instruction& instruction);

/// Throws std::invalid_argument: "NAME:LINE: MNEMONIC MESSAGE (tile.cu:31)".
[[noreturn]] void fail_at(const ptx::Module& module, std::string_view name,
                          const ptx::Instruction& instruction, std::string_view message);

}  // namespace rung::vgpu
