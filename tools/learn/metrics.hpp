#pragma once
// The metrics used in goals: quantities derived from the virtual GPU's counters.

#include <span>
#include <string>
#include <string_view>

#include "tools/analysis/kernel_trace.hpp"

namespace rung::learn {

struct Measured {
  analysis::KernelTrace trace;
  const vgpu::ptx::Module* text = nullptr;
  int needless_barriers = 0;
  std::string needless_line;  // of the first of them: "04.cu:32"
};

struct Metric {
  const char* name;         // "sectors_per_load"
  const char* description;  // "32-byte sectors for each global load of a warp"
  double (*value)(const Measured&);
};

std::span<const Metric> metrics();

/// Throws std::invalid_argument for an unknown name.
const Metric& metric(std::string_view name);

}  // namespace rung::learn
