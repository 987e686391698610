#pragma once
// The roofline of one kernel, with one slope per level of memory, and the kernel's position.

#include <optional>
#include <string>

#include "tools/analysis/explanation.hpp"
#include "tools/report/figure.hpp"

namespace rung {

/// Empty for a kernel without floating-point operations or memory accesses. `name`: of the kernel.
std::optional<Figure> levels_roofline(const std::string& id, const std::string& name,
                                      const analysis::Explanation& explanation);

}  // namespace rung
