#pragma once
// Checks a learner's file: compiles it, runs its kernel on the virtual GPU, and holds it to the
// exercise's goals.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "learn/compile.hpp"
#include "learn/exercise.hpp"

namespace rung::learn {

/// Something that keeps the exercise from being solved.
struct Finding {
  std::string key;   // for hints: "race", "wrong", or a metric
  std::string text;  // one sentence
};

struct GoalResult {
  Goal goal;
  double value = 0;
  static constexpr double slack = 1e-9;  // of a quotient

  bool is_met() const {
    return goal.at_most ? value <= goal.bound + slack : value >= goal.bound - slack;
  }
};

struct CheckResult {
  std::vector<Finding> findings;  // what to mend first comes first; empty: solved
  std::vector<GoalResult> goals;  // none where the results are not right
  std::string printed;            // by the kernel's printf
  std::optional<Code> code;       // none of a file that does not compile

  bool is_solved() const { return findings.empty(); }
};

/// Runs on a virtual H200, a Metal file on a virtual M1 Pro. Compiler messages go to standard error.
/// Throws emu::MissingTool without clang.
CheckResult check(const Exercise& exercise, const std::filesystem::path& file);

/// "If results are wrong", or "If this misses its goal: …". Throws std::invalid_argument for a finding
/// that a check does not make.
std::string occasion(const std::string& finding);

}  // namespace rung::learn
