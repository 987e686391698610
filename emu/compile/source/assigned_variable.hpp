#pragma once

#include <string>
#include <string_view>

namespace rung::emu {

/// The variable that the call of `function` on this line initialises or is assigned to: "x" for
/// auto* x = device->newBuffer(n); empty without one.
std::string assigned_variable(std::string_view text, int line, std::string_view function);

}  // namespace rung::emu
