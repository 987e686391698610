#pragma once
// A launch on the virtual GPU, as text for a terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/table.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/lines.hpp"

namespace rung {

/// Adds the source text to the lines of the file named `file_name`, whose contents are `source`.
void add_text(std::vector<vgpu::LineCounters>& lines, std::string_view file_name,
              std::string_view source);

/// The hottest lines, with their share of all instructions. Source text is cut to `width` columns.
std::string line_table(const std::vector<vgpu::LineCounters>& lines,
                       std::size_t width = text_width);

/// The launch's memory traffic and instructions.
std::string counter_table(const vgpu::LaunchReport& report);

/// A paragraph for each hazard; empty if there are no hazards.
std::string hazards_text(const vgpu::LaunchReport& report);

/// The launch's shape, memory traffic, instructions, hottest lines and hazards.
std::string launch_table(const vgpu::LaunchReport& report,
                         const std::vector<vgpu::LineCounters>& lines);

}  // namespace rung
