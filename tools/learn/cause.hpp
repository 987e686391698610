#pragma once
// Finds the cause of what a check has found, by experiments: other sizes, a barrier more, the terms
// of a wrong sum, the solution's threads.

#include <filesystem>
#include <optional>
#include <string>

#include "tools/learn/compile.hpp"
#include "tools/learn/exercise.hpp"
#include "tools/learn/trial.hpp"

namespace rung::learn {

/// A run in which something is wrong.
struct Failure {
  const Exercise& exercise;
  const Code& code;
  const std::filesystem::path& file;
  Size size;
  const Run& run;
  const vgpu::Hazard* hazard = nullptr;   // null if results are wrong or missing
  const ElementPlace* element = nullptr;  // that the hazard is about, if it is known
};

struct Cause {
  std::string key;   // for hints: "race/two_writers"
  std::string text;  // one sentence with what was found
};

/// Empty if the finding says all that is known.
std::optional<Cause> cause_of(const Failure& failure);

/// The cause of a wrong sum (wrong_sum.cpp).
std::optional<Cause> cause_of_wrong_sum(const Failure& failure);

/// True if the kernel is right for the size, without hazards.
bool is_right(const Code& code, const Size& size);

/// The extents of a size, such as "k" or "m and n", for which the kernel is wrong although it is right for
/// the exercise's counted size, whose tiles are all whole. Empty if it is wrong for that as well.
std::string ragged_extents(const Failure& failure);

}  // namespace rung::learn
