#pragma once
// A command is one file: it adds its arguments to the parser and returns what to run.

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace rung {

/// Exit codes, on which scripts depend.
enum ExitCode : int { exit_right = 0, exit_wrong = 1, exit_usage = 2, exit_unavailable = 3 };

/// An invalid argument: one line with the argument, the value and what is allowed.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something that this machine or this program lacks.
struct UnavailableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something that the complete program has, and not the small one (commands.inc). `what` names it.
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
