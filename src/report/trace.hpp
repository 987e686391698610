#pragma once
// What a launch on the virtual GPU did, for the reader at a terminal.

#include <string>
#include <string_view>
#include <vector>

#include "vgpu/launch.hpp"
#include "vgpu/lines.hpp"

namespace rung {

/// Gives the lines of the file of that name, whose contents are `source`, their text.
void add_text(std::vector<vgpu::LineCounters>& lines, std::string_view file_name,
              std::string_view source);

/// The hottest lines, with their share of all instructions.
std::string line_table(const std::vector<vgpu::LineCounters>& lines);

/// Its shape, its memory traffic, its instructions, its hottest lines and its hazards.
std::string launch_table(const vgpu::LaunchReport& report,
                         const std::vector<vgpu::LineCounters>& lines);

}  // namespace rung
