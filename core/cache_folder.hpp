#pragma once
// The folder for data that can be recreated.

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace rung {

/// $XDG_CACHE_HOME/rung, or ~/.cache/rung. Nothing if neither variable has an absolute path.
inline std::optional<std::filesystem::path> cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') {
    return std::filesystem::path(xdg) / "rung";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".cache" / "rung";
  }
  return std::nullopt;
}

}  // namespace rung
