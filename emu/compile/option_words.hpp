#pragma once
// Splits command lines and options into words, as nvcc does.

#include <stdexcept>
#include <string>
#include <vector>

namespace rung::emu {

/// Splits at each of the characters in `separators`; omits empty parts.
std::vector<std::string> split(const std::string& text, const char* separators);

/// Splits at commas, as nvcc does: commas in quotes or after a backslash are part of a word.
std::vector<std::string> split_list(const std::string& text);

/// Replaces -optf FILE, --options-file FILE and @FILE by the words in that file. Throws
/// NvccUsageError if it cannot be read.
std::vector<std::string> with_option_files(const std::vector<std::string>& words);

}  // namespace rung::emu
