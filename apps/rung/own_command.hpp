#pragma once
// This program, for a profiler to run.

#include <string>
#include <vector>

#include "arguments.hpp"

namespace rung {

/// `rung SUBCOMMAND RUNG --dtype … WORDS… --m … --n … --k …`, with the path of this program.
std::vector<std::string> own_command(const char* subcommand, const RungInfo& rung, Dtype dtype,
                                     const SizeArgument& size,
                                     const std::vector<std::string>& words);

}  // namespace rung
