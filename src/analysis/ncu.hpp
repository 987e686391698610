#pragma once
// NVIDIA's profiler, where it is installed and the driver lets it: the same quantities as counted
// by the hardware, and what warps waited for.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::analysis {

/// Sums over one launch, by the names of `rung trace`'s counters.
struct HardwareCounters {
  std::string kernel;
  std::map<std::string, double> counters;
  /// Share of the cycles of a warp between two instructions, by reason, the longest first.
  std::vector<std::pair<std::string, double>> stalls;
  double registers = 0;  // of a thread
  double seconds = 0;
  /// Blocks of a multiprocessor that each limit allows: "registers", "shared_memory", "warps",
  /// "blocks", "barriers", as far as ncu tells.
  std::map<std::string, double> limits;
};

/// Of a launch of the kernel whose name contains `kernel`, while `program` runs.
std::vector<std::string> ncu_command(const std::string& ncu, const std::string& kernel,
                                     const std::vector<std::string>& program);

/// What `ncu --csv --page raw` prints, with whatever the program printed before. Throws
/// std::runtime_error, in one line, if there is no launch in it.
HardwareCounters parse_ncu(std::string_view csv);

}  // namespace rung::analysis
