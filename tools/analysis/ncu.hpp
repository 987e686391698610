#pragma once
// NVIDIA's profiler Nsight Compute, if installed and permitted by the driver: the counters of `rung
// trace` as measured by the hardware, and stall reasons.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::analysis {

/// Sums over one launch, with the names of the counters in `rung trace`.
struct HardwareCounters {
  std::string kernel;
  std::map<std::string, double> counters;
  /// The share of the cycles between two instructions of a warp by stall reason; longest first.
  std::vector<std::pair<std::string, double>> stalls;
  double registers = 0;  // per thread
  double seconds = 0;
  /// The number of blocks per SM that each limit allows: "registers", "shared_memory", "warps",
  /// "blocks", "barriers", as far as reported by ncu.
  std::map<std::string, double> limits;
};

/// The command that profiles one launch of the kernel whose name contains `kernel`, by `program`.
std::vector<std::string> ncu_command(const std::string& ncu, const std::string& kernel,
                                     const std::vector<std::string>& program);

/// Parses the output of `ncu --csv --page raw`, which may follow output of the program. Throws
/// std::runtime_error with a one-line message if it contains no launch.
HardwareCounters parse_ncu(std::string_view csv);

}  // namespace rung::analysis
