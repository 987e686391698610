#pragma once
// A command is one file: it adds its arguments to the parser and returns what to run.

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>
#include <string>

namespace rung {

/// The contract with scripts.
enum ExitCode : int { exit_right = 0, exit_wrong = 1, exit_usage = 2, exit_unavailable = 3 };

/// A bad argument: one line that names the argument, the value and what is allowed.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something that this machine or this program does not have.
struct UnavailableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Action = std::function<ExitCode()>;

Action add_list(CLI::App& app);
Action add_verify(CLI::App& app);
Action add_bench(CLI::App& app);
Action add_tune(CLI::App& app);
Action add_trace(CLI::App& app);
Action add_emu(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_diff(CLI::App& app);
Action add_report(CLI::App& app);
Action add_doctor(CLI::App& app);

}  // namespace rung
