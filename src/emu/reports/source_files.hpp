#pragma once
// How reports for CI name source files.

#include <filesystem>
#include <string>

namespace rung::emu {

/// Relative to `root` if it lies there, otherwise absolute. Empty for an empty path. A relative
/// path begins at the working folder.
std::string relative_name(const std::string& file, const std::filesystem::path& root);

/// A name as a URI reference: relative, or with file://.
std::string uri_of(const std::string& name);

}  // namespace rung::emu
