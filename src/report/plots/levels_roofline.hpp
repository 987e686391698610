#pragma once
// The roofline of one kernel: a slope for each level of memory, and where the kernel meets it.

#include <optional>
#include <string>

#include "analysis/explanation.hpp"
#include "report/figure.hpp"

namespace rung {

/// Nothing for a kernel without floating-point work, or without memory. `name`: of the kernel.
std::optional<Figure> levels_roofline(const std::string& id, const std::string& name,
                                      const analysis::Explanation& explanation);

}  // namespace rung
