#pragma once
// What to do next: the causes, each with the rung of a ladder that removes it.

#include <functional>
#include <string>
#include <vector>

#include "analysis/advice.hpp"
#include "core/rung.hpp"

namespace rung::analysis {

/// The cause, and the rung that removes it: empty if the ladder has none.
struct Advice {
  Finding finding;
  std::string rung, idea;
};

/// The evidence of one rung; throws std::invalid_argument for one that the dtype or the device does
/// not allow.
using Examine = std::function<Evidence(const RungInfo&)>;

/// Remedies are looked for among the rungs of `selector`, in order: those after one of them, or if
/// `after` is none of them, all. Only as many as it takes are examined.
/// What a near rung removes comes before what only a later one does.
std::vector<Advice> advise(const Evidence& evidence, const std::string& selector,
                           const RungInfo* after, Examine examine);

}  // namespace rung::analysis
