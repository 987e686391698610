#pragma once
// The head of every explanation of a rung.

#include <cstdio>
#include <string>

#include "arguments.hpp"
#include "tools/report/json.hpp"

namespace rung {

/// The idea and the bottleneck.
void print_head(std::FILE* out, const RungInfo& rung);

/// The same, with the problem and the device, as the first members of the JSON.
Json explanation_head(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                      const std::string& device);

}  // namespace rung
