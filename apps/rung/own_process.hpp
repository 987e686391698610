#pragma once
// A process of its own for functions of the user's, so that they cannot end the command with an exit
// code that it did not decide.

#include <string>

#include "command.hpp"

namespace rung {

/// Runs a command's body, which loads code of that file, in a copy of this process. Its errors and
/// exit code are the command's. Throws std::runtime_error if the process ends before the body does,
/// whatever its exit code: code of the file has called exit(), or has crashed. No GPU may have been
/// used before, nor threads be running. Removes what is left in the folder for temporary files.
ExitCode in_own_process(const std::string& file, const Action& body);

}  // namespace rung
