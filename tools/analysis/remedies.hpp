#pragma once
// The rungs of a ladder that remove the causes of a slow one.

#include <functional>
#include <optional>

#include "core/rung.hpp"
#include "tools/analysis/diagnosis/diagnose.hpp"

namespace rung::analysis {

/// The diagnosis of another rung for the same problem. Throws std::invalid_argument if it does not
/// support the dtype or the device.
using Diagnose = std::function<std::optional<diagnosis::Diagnosis>(const RungInfo&)>;

/// Names in each finding the first later rung of the same ladder in which the cause costs at least
/// a fifth less time; none if there is no such rung. Diagnoses as few rungs as possible.
void cite_rungs(diagnosis::Diagnosis& of, const RungInfo& here, const Diagnose& diagnose);

}  // namespace rung::analysis
