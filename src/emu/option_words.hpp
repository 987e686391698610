#pragma once
// How nvcc divides options into words.

#include <stdexcept>
#include <string>
#include <vector>

namespace rung::emu {

/// Parts that are not empty, between any of the separators.
std::vector<std::string> split(const std::string& text, const char* separators);

/// At commas, as nvcc does: those in quotes and behind a backslash do not count.
std::vector<std::string> split_list(const std::string& text);

/// With the words of files that -optf FILE, --options-file FILE or @FILE name. Throws NvccUsageError.
std::vector<std::string> with_option_files(const std::vector<std::string>& words);

}  // namespace rung::emu
