#pragma once
// From PTX as written to a kernel that the engine runs.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The device address of a module's global or constant variable; nothing if it has none of that
/// name.
using SymbolAddress = std::function<std::optional<std::uint64_t>(std::string_view)>;

/// `name` stands for the PTX text in messages. Throws std::invalid_argument, "NAME:LINE: message",
/// for an instruction that the engine does not know or a symbol that is not there.
std::unique_ptr<Kernel> lower(const ptx::Module& module, const ptx::Function& entry,
                              std::string_view name, const SymbolAddress& symbol_address);

}  // namespace rung::vgpu
