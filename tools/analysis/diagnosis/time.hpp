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
  /// The shortest time of a kernel with the same arithmetic and data: of DRAM for each byte once, or
  /// of the units that compute.
  Part bound;

  double with_launch() const { return seconds + launch; }
  /// `seconds` relative to the bound; 0 without one.
  double above_bound() const { return bound.seconds > 0 ? seconds / bound.seconds : 0; }
  const Part& longest() const;
};

/// Median and 90th percentile of the prediction error (docs/notes/virtual-gpu.md): of rungs on an
/// H200 and an H100; of kernels in tests/analysis/daily_use that were predicted from nvcc's PTX before the model saw
/// their times, on an H200 with cold caches and the machine's time of an empty kernel as --launch-time. scripts/predictions.py
/// --claim --write renews errors_of_kernels.
struct PredictionErrors {
  double median, ninth_decile;
};
inline constexpr PredictionErrors errors_of_rungs = {0.08, 0.24}, errors_of_kernels = {0.07, 0.48};

/// True if a kernel is so near its bound that nothing is worth changing.
bool is_at_bound(const Time& time);

/// "DRAM 22.1 of 22.9 us: at the bound", or the distance to it and the parts that take the rest.
std::string bound_text(const Time& time);

/// The time from the end of a launch to the first instruction of the next launch in the stream.
inline constexpr double next_launch_seconds = 1.3e-6;

/// Adds a launch that follows in the same stream.
void add_launch(Time& call, const Time& launch);

/// The predicted time of a launch, with the changes in `cure`.
Time time_of(const Facts& facts, const Cure& cure = {});

}  // namespace rung::analysis::diagnosis
