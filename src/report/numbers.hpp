#pragma once
// Numbers formatted for a page.

#include <optional>
#include <string>

namespace rung {

/// Three significant digits, or all digits before the point.
std::string format_three(double value);
/// "79 %", below a tenth "0.8 %".
std::string format_percent(double share);
/// "1.06", below a tenth "0.009"; "–" if empty.
std::string format_ratio(std::optional<double> ratio);
/// "2.7 ms", like format_seconds().
std::string format_time(double seconds);
/// Groups of three digits with non-breaking spaces: "51 748".
std::string format_grouped(double value);

/// "45 % done, 1:20 left"; without the time while it cannot be estimated.
std::string format_progress(double done, double seconds_so_far);

}  // namespace rung
