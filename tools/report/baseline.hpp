#pragma once
// Compares benchmark results with earlier ones: times that have changed by more than the noise.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/report/bench_results.hpp"

namespace rung {

enum class Change : std::uint8_t {
  faster,
  slower,
  none,     // the intervals of both medians overlap (measure/statistics.hpp)
  unknown,  // too few samples, or an old file without quartiles
};
std::string_view name(Change change);

/// A result compared with the corresponding one in the baseline.
struct BaselineChange {
  double before = 0;  // seconds
  double ratio = 0;   // time before divided by time now; above 1, it is faster now
  Change change = Change::unknown;
};

/// The change from the baseline for the same rung, problem and kind of device; empty if the
/// baseline has no such time. For the library, regardless of the rung that it chose.
std::optional<BaselineChange> change_of(const Result& now, const Results& before);

/// A table with one row per result, and the number of changes. `file`: the name of the baseline.
std::string baseline_text(const Results& now, const Results& before, const std::string& file);

}  // namespace rung
