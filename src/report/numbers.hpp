#pragma once
// Numbers as a reader of a page wants them.

#include <optional>
#include <string>

namespace rung {

/// Three significant digits, or all those before the point.
std::string format_three(double value);
/// "79 %", below a tenth "0.8 %".
std::string format_percent(double share);
/// "1.06", below a tenth "0.009"; "–" for nothing.
std::string format_ratio(std::optional<double> ratio);
/// "2.7 ms", after format_seconds().
std::string format_time(double seconds);
/// Groups of three digits, which lines do not break: "51 748".
std::string format_grouped(double value);

/// "45 % done, 1:20 left"; without the time where so little is done that nobody can tell.
std::string format_progress(double done, double seconds_so_far);

}  // namespace rung
