#pragma once
// Checks a learner's file: compiles it, runs its kernel on the virtual GPU, and compares the
// metrics with the exercise's goals.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/learn/compile.hpp"
#include "tools/learn/exercise.hpp"

namespace rung::learn {

/// A reason why the exercise is not solved.
struct Finding {
  std::string key;                         // for hints: "race/two_writers", "wrong", or a metric
  std::string text;                        // what was found and, of the first finding, its cause
  std::optional<std::size_t> hazard = {};  // its index in the run's report
};

struct GoalResult {
  Goal goal;
  double value = 0;
  static constexpr double slack = 1e-9;  // for rounding errors of quotients

  bool is_met() const {
    return goal.at_most ? value <= goal.bound + slack : value >= goal.bound - slack;
  }
};

struct CheckResult {
  std::vector<Finding> findings;  // the first to fix comes first; empty if solved
  std::vector<GoalResult> goals;  // empty if results are wrong
  std::string printed;            // output of the kernel's printf
  std::optional<Code> code;       // empty if the file does not compile

  bool is_solved() const { return findings.empty(); }
};

/// Runs the kernel on a virtual H200, or a virtual M1 Pro for Metal. Compiler messages go to
/// standard error. Throws emu::MissingTool if clang is not installed.
CheckResult check(const Exercise& exercise, const std::filesystem::path& file);

/// A finding as a condition: "If results are wrong", or "If this misses its goal: …". Throws
/// std::invalid_argument for an unknown finding.
std::string occasion(const std::string& finding);

}  // namespace rung::learn
