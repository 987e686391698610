#pragma once
// Checks the load by other programs before CPU measurements.

#include <chrono>
#include <optional>
#include <string>

#include "core/element_types.hpp"

namespace rung {

/// Waits up to `seconds` until other programs use less than a tenth of a CPU, then times FMAs of
/// this type on this number of threads. Returns a message with the remaining load and the variation
/// of this ceiling; empty if the machine is idle. If `seconds` is less than 1, checks nothing.
std::string wait_for_quiet_machine(Dtype dtype, int threads, double seconds);

/// The load by other programs while this process measures.
class LoadByOthers {
 public:
  LoadByOthers();
  /// The mean number of this process's CPUs that other programs have used since the construction.
  /// 0 where the system does not say it.
  double mean() const;

 private:
  std::chrono::steady_clock::time_point start_;
  std::optional<double> busy_;  // seconds of all programs on these CPUs
  double own_;                  // CPU seconds
};

/// Other programs disturb a measurement if they use more CPUs than this.
inline constexpr double disturbing_load = 0.1;

/// A measurement is noisy if its interquartile range exceeds this fraction of its median.
inline constexpr double noisy_spread = 0.10;

}  // namespace rung
