#pragma once
// Runs other programs.

#include <string>
#include <utility>
#include <vector>

namespace rung::emu {

struct ExitStatus {
  int code = 0;    // its exit status
  int signal = 0;  // the signal that ended it; 0 if it exited
};

/// Runs a program, found on the PATH, with this process's standard streams, folder and environment,
/// plus `variables`, and waits until it ends. Interrupts from the terminal end the program, not
/// this process. Throws std::runtime_error if it cannot be started.
ExitStatus run(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& variables = {});

/// The path of an executable file of that name on the PATH; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace rung::emu
