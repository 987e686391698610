#pragma once
// A command is one file: it adds its arguments to the parser and returns what to run.

#include <functional>
#include <stdexcept>
#include <string>

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

class Options;
using Action = std::function<ExitCode()>;

Action add_list(Options& app);
Action add_verify(Options& app);
Action add_bench(Options& app);
Action add_check(Options& app);
Action add_new(Options& app);
Action add_tune(Options& app);
Action add_trace(Options& app);
Action add_emu(Options& app);
Action add_explain(Options& app);
Action add_diff(Options& app);
Action add_learn(Options& app);
Action add_report(Options& app);
Action add_dist(Options& app);
Action add_doctor(Options& app);

}  // namespace rung
