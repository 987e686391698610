#pragma once
// Counters of a launch per source line.

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/launch.hpp"

namespace rung::vgpu {

/// The counters of one line, in warp-level instructions.
struct LineCounters {
  std::string where;  // "02_shared_tile.cu:41"; empty if unknown
  std::string text;   // the source text of the line, if available
  std::uint64_t instructions = 0;
  std::uint64_t global_requests = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t bulk_sectors = 0;  // global memory sectors of bulk copies

  std::uint64_t sectors() const { return global_sectors + bulk_sectors; }
  LineCounters& operator+=(const LineCounters& other);
};

/// Counters by line, hottest first, without lines that did not run. `sites`: the sites of the
/// launched kernel.
std::vector<LineCounters> by_line(const LaunchReport& report, const std::vector<Site>& sites);

void hot_first(std::vector<LineCounters>& lines);

}  // namespace rung::vgpu
