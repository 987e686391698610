#pragma once
// Lowers parsed PTX to a kernel that the engine can run.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Returns the device address of a module's global or constant variable; nullopt if the module has
/// no such variable.
using SymbolAddress = std::function<std::optional<std::uint64_t>(std::string_view)>;

/// `name` identifies the PTX text in messages. Throws std::invalid_argument, "NAME:LINE: message",
/// for an unknown instruction or symbol. `tracks_loads`: returns the tracking version (TrackingVersion).
std::unique_ptr<Kernel> lower(const ptx::Module& module, const ptx::Function& entry,
                              std::string_view name, const SymbolAddress& symbol_address,
                              bool tracks_loads = false);

}  // namespace rung::vgpu
