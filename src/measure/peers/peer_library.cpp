#include "measure/peers/peer_library.hpp"

#include <cstdlib>
#include <filesystem>

namespace rung {
namespace {

namespace fs = std::filesystem;

/// Empty if there is no home.
fs::path peers_folder() {
  if (const char* folder = std::getenv("RUNG_PEERS")) return folder;
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
  // Links are resolved, because a library looks for its own dependencies beside itself.
  std::error_code absent;
  const fs::path path = fs::canonical(peers_folder() / "peers" / file, absent);
  if (absent) return SharedLibrary(names);
  return SharedLibrary::at(path.string());
}

}  // namespace rung
