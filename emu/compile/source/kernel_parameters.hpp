#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rung::emu {

/// The name of parameter `index`, from 0, of the function that the text defines. `function` has no scope and
/// no template arguments. Empty without such a definition, or if the parameter has no name.
std::string parameter_name(std::string_view text, std::string_view function, std::size_t index);

}  // namespace rung::emu
