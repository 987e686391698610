#pragma once
// Finds the source line that makes a metric miss its goal.

#include <string>

#include "tools/learn/exercise.hpp"
#include "tools/learn/metrics.hpp"

namespace rung::learn {

/// Names the line that contributes the most: "04.cu:32: 32 wavefronts each time, 1 is the least".
/// Empty for metrics of the whole kernel.
std::string worst_line(const Measured& run, const Goal& goal);

}  // namespace rung::learn
