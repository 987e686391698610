#pragma once
// Finds the shared library of a CPU peer.

#include <initializer_list>
#include <string>

#include "core/shared_library/shared_library.hpp"

namespace rung {

/// Opens the file named by the environment variable if set; otherwise the newer `file` in the
/// directory installed by `make peers` ($RUNG_PEERS, or rung/peers in $XDG_DATA_HOME or
/// ~/.local/share); otherwise the first of the names that the loader finds.
SharedLibrary open_peer_library(const char* variable, const char* file,
                                std::initializer_list<const char*> names);

}  // namespace rung
