#pragma once
// Advice: the causes, and for each the rung of a ladder that removes it.

#include <functional>
#include <string>
#include <vector>

#include "core/rung.hpp"
#include "tools/analysis/advice.hpp"

namespace rung::analysis {

/// A cause, and the rung that removes it; empty if the ladder has none.
struct Advice {
  Finding finding;
  std::string rung, idea;
};

/// Returns the evidence of one rung. Throws std::invalid_argument if it does not support the dtype
/// or the device.
using Examine = std::function<Evidence(const RungInfo&)>;

/// Searches the rungs of `selector` for remedies, in order: those after `after` or, if it is not
/// among them, all. Examines as few as possible. Causes removed by an earlier rung come first.
std::vector<Advice> advise(const Evidence& evidence, const std::string& selector,
                           const RungInfo* after, Examine examine);

}  // namespace rung::analysis
