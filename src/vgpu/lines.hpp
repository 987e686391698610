#pragma once
// The counters of a launch, per source line.

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/launch.hpp"

namespace rung::vgpu {

/// The counters of one line, in warp-level instructions.
struct LineCounters {
  std::string where;  // "02_shared_tile.cu:41"; empty for what has no line
  std::string text;   // the source text of the line, if available
  std::uint64_t instructions = 0;
  std::uint64_t global_requests = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t bulk_sectors = 0;  // of global memory, by bulk copies

  std::uint64_t sectors() const { return global_sectors + bulk_sectors; }
  LineCounters& operator+=(const LineCounters& other);
};

/// `sites`: of the launched kernel. Hottest lines first, without lines that did not run.
std::vector<LineCounters> by_line(const LaunchReport& report, const std::vector<Site>& sites);

void hot_first(std::vector<LineCounters>& lines);

}  // namespace rung::vgpu
