#pragma once
// Paths of the files in which `rung tune` stores its results for a device.

#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

namespace rung {

/// $XDG_CACHE_HOME/rung/tuned/<device>.txt, or the same in ~/.cache. The device name is in lower
/// case, with _ for everything but letters and digits. Empty if neither variable is set.
inline std::string tuned_path(std::string_view device) {
  const auto folder = [](const char* variable) -> std::string {
    const char* const value = std::getenv(variable);
    return value == nullptr ? "" : value;
  };
  std::string path = folder("XDG_CACHE_HOME");
  if (path.empty() && !folder("HOME").empty()) path = folder("HOME") + "/.cache";
  if (path.empty()) return path;
  path += "/rung/tuned/";
  for (const char c : device) {
    const auto byte = static_cast<unsigned char>(c);
    path += std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return path + ".txt";
}

/// The file next to tuned_path() in which `rung tune --quick` stores the constants of models.
inline std::string models_path(std::string_view device) {
  const std::string path = tuned_path(device);
  return path.empty() ? path : path.substr(0, path.rfind('.')) + "_models.txt";
}

}  // namespace rung
