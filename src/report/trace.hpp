#pragma once
// A launch on the virtual GPU, as text for a terminal.

#include <string>
#include <string_view>
#include <vector>

#include "vgpu/launch.hpp"
#include "vgpu/lines.hpp"

namespace rung {

/// Adds the source text to the lines of the file of that name, whose contents are `source`.
void add_text(std::vector<vgpu::LineCounters>& lines, std::string_view file_name,
              std::string_view source);

/// The hottest lines, with their share of all instructions.
std::string line_table(const std::vector<vgpu::LineCounters>& lines);

/// Its shape, memory traffic, instructions, hottest lines and hazards.
std::string launch_table(const vgpu::LaunchReport& report,
                         const std::vector<vgpu::LineCounters>& lines);

}  // namespace rung
