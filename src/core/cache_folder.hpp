#pragma once
// Where the program keeps what it may lose.

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace rung {

/// $XDG_CACHE_HOME/rung, or ~/.cache/rung; none without an absolute path to either.
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
