#pragma once
// Compiles and launches kernels for another process: the Python package's rung.Kernel.

#include "command.hpp"

namespace rung {

/// Answers requests on the socket until its other end is closed.
ExitCode serve_kernels(int socket);

}  // namespace rung
