#pragma once
// Finds the shared library of a CPU peer.

#include <initializer_list>
#include <string>

#include "shared_library/shared_library.hpp"

namespace rung {

/// Opens the file that the environment variable names; otherwise `file` in the folder that `make
/// peers` fills ($RUNG_PEERS, or rung/peers in $XDG_DATA_HOME or ~/.local/share), where it is newer;
/// otherwise the first of the names that the loader finds.
SharedLibrary open_peer_library(const char* variable, const char* file,
                                std::initializer_list<const char*> names);

}  // namespace rung
