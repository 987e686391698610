#pragma once
// The roofline of one kernel: a slope for each level of memory, and the kernel's position on it.

#include <optional>
#include <string>

#include "analysis/explanation.hpp"
#include "report/figure.hpp"

namespace rung {

/// Empty for a kernel without floating-point work, or without memory accesses. `name`: of the
/// kernel.
std::optional<Figure> levels_roofline(const std::string& id, const std::string& name,
                                      const analysis::Explanation& explanation);

}  // namespace rung
