#pragma once
// Advice: the causes, each with the rung of a ladder that removes it.

#include <functional>
#include <string>
#include <vector>

#include "analysis/advice.hpp"
#include "core/rung.hpp"

namespace rung::analysis {

/// A cause, and the rung that removes it: empty if the ladder has none.
struct Advice {
  Finding finding;
  std::string rung, idea;
};

/// The evidence for one rung; throws std::invalid_argument if it does not support the dtype or the
/// device.
using Examine = std::function<Evidence(const RungInfo&)>;

/// Searches the rungs of `selector` for remedies, in order: those after `after` or, if that is not
/// among them, all. Examines no more than needed. Causes that a near rung removes precede those
/// that only a later one removes.
std::vector<Advice> advise(const Evidence& evidence, const std::string& selector,
                           const RungInfo* after, Examine examine);

}  // namespace rung::analysis
