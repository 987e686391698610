#pragma once
// Runs the command line as a script would.

#include <string>
#include <vector>

namespace rung {

struct Output {
  int exit_code;
  std::string out;
  std::string err;
};

/// Runs `command` through sh, with nothing on standard input. The program is $RUNG in it.
Output run_shell(const std::string& command);

/// The same for the program with these arguments.
inline Output run_rung(const std::string& arguments) { return run_shell("\"$RUNG\" " + arguments); }

std::vector<std::string> lines(const std::string& text);

}  // namespace rung
