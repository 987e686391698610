#pragma once
// What a launch did, line by line of the source.

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/launch.hpp"

namespace rung::vgpu {

/// All that one line did, in warp-level instructions.
struct LineCounters {
  std::string where;  // "02_shared_tile.cu:41"; empty for what has no line
  std::string text;   // of the line, where whoever prints it has the source
  std::uint64_t instructions = 0;
  std::uint64_t global_requests = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t bulk_sectors = 0;  // of global memory, by bulk copies

  std::uint64_t sectors() const { return global_sectors + bulk_sectors; }
  LineCounters& operator+=(const LineCounters& other);
};

/// `sites`: of the kernel that was launched. Hot lines first; none that was not run.
std::vector<LineCounters> by_line(const LaunchReport& report, const std::vector<Site>& sites);

void hot_first(std::vector<LineCounters>& lines);

}  // namespace rung::vgpu
