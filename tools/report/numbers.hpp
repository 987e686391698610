#pragma once
// Numbers formatted for a page.

#include <optional>
#include <string>

namespace rung {

/// Three significant digits, or all digits before the decimal point.
std::string format_three(double value);
/// "79 %", or "0.8 %" if less than 10 %.
std::string format_percent(double share);
/// "1.06", or "0.009" if less than 0.1; "–" if empty.
std::string format_ratio(std::optional<double> ratio);
/// "2.7 ms", like format_seconds().
std::string format_time(double seconds);
/// Groups of three digits with non-breaking spaces: "51 748".
std::string format_grouped(double value);

/// "45 % done, 1:20 left"; omits the time if it cannot be estimated yet.
std::string format_progress(double done, double seconds_so_far);

}  // namespace rung
