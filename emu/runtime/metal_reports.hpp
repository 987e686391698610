#pragma once
// Reports of a Metal program, in addition to those of runtime/report.hpp.

#include <string_view>

#include "vgpu/model/hazard.hpp"

namespace rung::emu {

/// A hazard of a kind that only reports have (emu/reports/metal_kinds.hpp), and that belongs to no launch.
void report_hazard(const vgpu::Hazard& hazard, std::string_view kind);

/// Called before the report at the end, to report what only the end shows.
void set_end_observer(void (*observer)());

}  // namespace rung::emu
