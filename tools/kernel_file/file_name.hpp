#pragma once
// The name of a user's kernel file on the command line: FILE or FILE:FUNCTION.

#include <string>
#include <utility>

namespace rung {

/// True if a command-line argument names a user's file: it ends in .cu or .metal, optionally
/// followed by a colon and a function.
bool names_kernel_file(const std::string& word);

/// Splits off a function name: "my.cu" and "launch" for "my.cu:launch".
std::pair<std::string, std::string> split_path(const std::string& path);

}  // namespace rung
