#pragma once
// How hazards are removed.

#include <string>

#include "emu/reports/merged.hpp"

namespace rung::emu {

/// One sentence that says how such a hazard is usually removed; empty for kinds whose message says it.
std::string remedy(const Report& report);

}  // namespace rung::emu
