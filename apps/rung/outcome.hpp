#pragma once
// Ends a command: an error is one line on standard error and an exit code.

#include "command.hpp"

namespace rung {

/// Runs it, and writes what it has printed to standard output.
ExitCode outcome_of(const Action& action);

}  // namespace rung
