#pragma once
// The time of a launch: for each part of the machine its work over its rate, and the latency that
// too few warps cannot hide.

#include <string>
#include <vector>

#include "analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

/// One part of the machine, and how long it is busy.
struct Part {
  std::string name;
  double seconds = 0;
};

struct Time {
  std::vector<Part> parts;
  /// Parts overlap, the better the more warps an SM has.
  double seconds = 0;
  double launch = 0;  // on top of that

  double with_launch() const { return seconds + launch; }
  const Part& longest() const;
};

/// Errors of predictions for an H200 and an H100 (docs/notes/predicted-times.md), of half of them and
/// of nine of ten: for rungs, and for the kernels of tests/analysis.
struct PredictionErrors {
  double median, ninth_decile;
};
inline constexpr PredictionErrors errors_of_rungs = {0.08, 0.24}, errors_of_kernels = {0.08, 0.32};

/// The predicted time of the launch, without the faults that are cured.
Time time_of(const Facts& facts, const Cure& cure = {});

}  // namespace rung::analysis::diagnosis
