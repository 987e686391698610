#pragma once
// A description of a GPU, for the header of a report.

#include <string>

#include "tools/measure/gpu_environment.hpp"

namespace rung {

/// A few lines: device, memory and its peak bandwidth, ceilings, clocks.
std::string gpu_summary(const GpuEnvironment& gpu);

}  // namespace rung
