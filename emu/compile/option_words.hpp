#pragma once
// How nvcc divides options into words.

#include <stdexcept>
#include <string>
#include <vector>

namespace rung::emu {

/// Parts that are not empty, between any of the separators.
std::vector<std::string> split(const std::string& text, const char* separators);

/// Splits at commas, as nvcc does: commas in quotes or after a backslash are part of a word.
std::vector<std::string> split_list(const std::string& text);

/// With the words of files that -optf FILE, --options-file FILE or @FILE name. Throws NvccUsageError.
std::vector<std::string> with_option_files(const std::vector<std::string>& words);

}  // namespace rung::emu
