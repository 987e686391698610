#pragma once
// Kinds of what a Metal program does wrong without a kernel (emu/metal_cpp/).

#include <string_view>

namespace rung::emu {

inline constexpr std::string_view over_release = "over-release";
inline constexpr std::string_view api_misuse = "invalid use of Metal";

}  // namespace rung::emu
