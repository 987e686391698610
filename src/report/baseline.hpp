#pragma once
// A bench compared with an earlier one: which times changed, and whether by more than the noise.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/bench_results.hpp"

namespace rung {

enum class Change : std::uint8_t {
  faster,
  slower,
  none,     // the intervals of both medians overlap (measure/statistics.hpp)
  unknown,  // too few samples, or an old file without quartiles
};
std::string_view name(Change change);

/// One result and the same one in the baseline.
struct BaselineChange {
  double before = 0;  // seconds
  double ratio = 0;   // time before over time now: above 1, it is faster now
  Change change = Change::unknown;
};

/// The same rung on the same problem and kind of device, if it was timed then. Of the library,
/// whichever rung it chose.
std::optional<BaselineChange> change_of(const Result& now, const Results& before);

/// A table with a row for each result, and how many changed. `file` is that of the baseline.
std::string baseline_text(const Results& now, const Results& before, const std::string& file);

}  // namespace rung
