#pragma once
// What a change of a program does to the explanation of its kernels.

#include <string>

#include "report/json.hpp"

namespace rung {

/// Both are the JSON of `rung explain FILE.cu --json`. For each kernel of `now`: its predicted time then and
/// now, that of each part of the machine that counts, the first cause and the hazards. A kernel is compared
/// with that of its name, or with the only one where both files have one. `file` is that of `before`.
/// Throws std::runtime_error, in one line, if `before` explains no program, or another device.
std::string changes_text(const Json& before, const Json& now, const std::string& file);

}  // namespace rung
