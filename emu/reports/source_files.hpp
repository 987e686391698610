#pragma once
// How reports for CI name source files.

#include <filesystem>
#include <string>

namespace rung::emu {

/// The path relative to `root` for a file in it, otherwise absolute. Empty for an empty path. A relative
/// `file` starts at the working folder.
std::string relative_name(const std::string& file, const std::filesystem::path& root);

/// A name as a URI reference: relative, or with file://.
std::string uri_of(const std::string& name);

}  // namespace rung::emu
