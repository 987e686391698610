#include "tools/measure/peers/peer_library.hpp"

#include <cstdlib>
#include <filesystem>

#include "core/ignored_variable.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

/// Empty if there is no home directory.
fs::path peers_folder() {
  if (const char* const folder = std::getenv("RUNG_PEERS")) {
    std::error_code absent;
    if (!fs::is_directory(folder, absent)) {
      ignore_variable("RUNG_PEERS", folder, "is no folder; peers of the system are used");
    }
    return folder;
  }
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/') {
    return fs::path(data) / "rung/peers";
  }
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? fs::path(home) / ".local/share/rung/peers" : fs::path();
}

}  // namespace

SharedLibrary open_peer_library(const char* variable, const char* file,
                                std::initializer_list<const char*> names) {
  if (std::getenv(variable) != nullptr) return {variable, names};
  // Resolves links, because a library looks for its dependencies in its own directory.
  std::error_code absent;
  const fs::path path = fs::canonical(peers_folder() / "peers" / file, absent);
  if (absent) return SharedLibrary(names);
  return SharedLibrary::at(path.string());
}

}  // namespace rung
