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

/// Runs `command` through sh with an empty standard input. $RUNG is the path of the program.
Output run_shell(const std::string& command);

/// Runs the program with these arguments.
inline Output run_rung(const std::string& arguments) { return run_shell("\"$RUNG\" " + arguments); }

std::vector<std::string> lines(const std::string& text);

}  // namespace rung
