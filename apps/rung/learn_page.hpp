#pragma once
// The page of an exercise: `rung learn --html`.

#include <filesystem>
#include <string>

#include "tools/learn/check.hpp"
#include "tools/report/figure.hpp"

namespace rung {

/// "rung learn 04", or "rung learn 04 --metal"
std::string learn_command(const learn::Exercise& exercise);

/// Draws a run of the solution on the virtual GPU. Throws emu::MissingTool without clang.
Figure draw_picture(const learn::Exercise& exercise);

struct CheckedFile {
  std::filesystem::path path;
  const learn::CheckResult& result;
};

/// `checked`: a learner's file, or null. The page shows its findings, and its steps next to the
/// solution's. Without clang, the page has neither picture nor steps.
std::string learn_page(const learn::Exercise& exercise, const CheckedFile* checked);

}  // namespace rung
