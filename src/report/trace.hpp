#pragma once
// What a launch on the virtual GPU did, for the reader at a terminal and line by line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/launch.hpp"

namespace rung {

/// A launch, with the instructions that its counters belong to.
struct TracedLaunch {
  vgpu::LaunchReport report;
  std::vector<vgpu::Site> sites;  // parallel to report.per_site
};

/// All that one line of the source did, in warp-level instructions.
struct LineCounters {
  std::string where;  // "02_shared_tile.cu:41"; empty for what has no line
  std::string text;   // of the line, if the source is at hand
  std::uint64_t instructions = 0;
  std::uint64_t global_requests = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;
};

/// Hot lines first. `source` is the text of the file of that name.
std::vector<LineCounters> by_line(const TracedLaunch& launch, std::string_view file_name,
                                  std::string_view source);

/// Its shape, its memory traffic, its instructions, its hottest lines and its hazards.
std::string launch_table(const TracedLaunch& launch, const std::vector<LineCounters>& lines);

}  // namespace rung
