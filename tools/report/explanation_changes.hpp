#pragma once
// Compares explanations of a program's kernels before and after a change.

#include <string>

#include "tools/report/json.hpp"

namespace rung {

/// Both arguments are the JSON of `rung explain FILE.cu --json`. For each kernel of `now`, shows
/// the predicted time before and now, the time of each relevant part of the device, the first
/// cause, and the hazards. Kernels correspond by name, or if both files have only one. `file`: the
/// name of `before`. Throws std::runtime_error with a one-line message if `before` does not explain
/// a program, or is about another device.
std::string changes_text(const Json& before, const Json& now, const std::string& file);

}  // namespace rung
