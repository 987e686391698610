#pragma once
// Diagnoses a kernel. The cost of each performance problem is the difference between the predicted
// times with and without it.

#include <span>
#include <string>
#include <vector>

#include "tools/analysis/diagnosis/time.hpp"

namespace rung::analysis::diagnosis {

struct Finding {
  std::string name, detail, remedy, code;
  std::string rung, idea;    // of a rung that demonstrates the remedy; empty if none
  double cost = 0;           // share of the time that would be saved
  double seconds_after = 0;  // predicted, with the launch
};

struct Diagnosis {
  Time time;                      // predicted
  std::vector<Finding> findings;  // highest cost first; empty if there are no significant costs
};

/// Diagnoses launches of one call, which run one after the other. Each cause is one of the longest
/// launch, and its cost is what all of them would save. `other_seconds`: what the call takes in
/// addition to its launches.
Diagnosis diagnose(std::span<const Facts> launches, double other_seconds = 0);

}  // namespace rung::analysis::diagnosis
