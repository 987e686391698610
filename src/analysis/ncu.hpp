#pragma once
// NVIDIA's profiler, if it is installed and the driver permits it: the same quantities as counted
// by the hardware, and stall reasons.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::analysis {

/// Sums over one launch, under the names of `rung trace`'s counters.
struct HardwareCounters {
  std::string kernel;
  std::map<std::string, double> counters;
  /// Share of the cycles between two instructions of a warp, per stall reason, longest first.
  std::vector<std::pair<std::string, double>> stalls;
  double registers = 0;  // per thread
  double seconds = 0;
  /// Blocks per SM that each limit allows: "registers", "shared_memory", "warps", "blocks",
  /// "barriers", as far as ncu reports them.
  std::map<std::string, double> limits;
};

/// For a launch of the kernel whose name contains `kernel`, while `program` runs.
std::vector<std::string> ncu_command(const std::string& ncu, const std::string& kernel,
                                     const std::vector<std::string>& program);

/// Parses the output of `ncu --csv --page raw`, including anything that the program printed before.
/// Throws std::runtime_error, in one line, if it contains no launch.
HardwareCounters parse_ncu(std::string_view csv);

}  // namespace rung::analysis
