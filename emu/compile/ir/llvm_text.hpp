#pragma once
// Pieces of LLVM IR as text.

#include <string_view>
#include <vector>

namespace rung::emu {

std::vector<std::string_view> split_lines(std::string_view text);

/// The parts between commas of the list in braces or parentheses that the text begins with.
std::vector<std::string_view> split_list(std::string_view text);

}  // namespace rung::emu
