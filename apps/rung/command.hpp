#pragma once
// Interface of the commands, one file each: add_NAME() adds the arguments to the parser and returns
// the action to run.

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace rung {

/// Exit codes, on which scripts depend.
enum ExitCode : int { exit_right = 0, exit_wrong = 1, exit_usage = 2, exit_unavailable = 3 };

/// An invalid argument. The message is one line: the argument, its value and the allowed values.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something that this machine or this program lacks.
struct UnavailableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown by the small program for a command or variable that only the complete program supports
/// (commands.inc). `what` names it.
class ElsewhereError : public std::exception {
 public:
  explicit ElsewhereError(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

class Options;
using Action = std::function<ExitCode()>;

#define RUNG_COMMAND(name, program, summary) Action add_##name(Options& app);
#include "commands.inc"
#undef RUNG_COMMAND

}  // namespace rung
