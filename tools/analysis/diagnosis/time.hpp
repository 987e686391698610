#pragma once
// The predicted time of a launch: for each part of the device, its work divided by its rate, and
// the latency that is not hidden because of too few warps.

#include <string>
#include <vector>

#include "tools/analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

/// A part of the device, and its busy time.
struct Part {
  std::string name;
  double seconds = 0;
};

struct Time {
  std::vector<Part> parts;
  /// Time of all parts. They overlap; the more warps an SM has, the better.
  double seconds = 0;
  double launch = 0;  // additional

  double with_launch() const { return seconds + launch; }
  const Part& longest() const;
};

/// Median and 90th percentile of the prediction error on an H200 and an H100
/// (docs/notes/virtual-gpu.md), for rungs and for the kernels of tests/analysis.
struct PredictionErrors {
  double median, ninth_decile;
};
inline constexpr PredictionErrors errors_of_rungs = {0.08, 0.24}, errors_of_kernels = {0.08, 0.32};

/// The predicted time of a launch, with the changes in `cure`.
Time time_of(const Facts& facts, const Cure& cure = {});

}  // namespace rung::analysis::diagnosis
