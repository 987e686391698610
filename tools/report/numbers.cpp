#include "tools/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/table.hpp"

namespace rung {

std::string format_three(double value) {
  const int digits =
      value > 0 ? std::max(0, 2 - static_cast<int>(std::floor(std::log10(value)))) : 0;
  return digits > 0 ? fmt::format("{:.{}f}", value, std::min(digits, 6)) : format_grouped(value);
}

std::string format_percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share >= 0.1 ? 0 : 1);
}

std::string format_ratio(std::optional<double> ratio) {
  if (!ratio) return "–";
  return fmt::format("{:.{}f}", *ratio, *ratio >= 0.1 ? 2 : 3);
}

std::string format_time(double seconds) {
  std::string text = format_seconds(seconds);
  text.erase(text.find_last_not_of(' ') + 1);
  return text.ends_with("us") ? text.substr(0, text.size() - 2).append("µs") : text;
}

std::string format_grouped(double value) {
  std::string text = fmt::format("{:.0f}", value);
  if (text.size() < 5) return text;
  const std::string no_break = "\u00a0";
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, no_break);
  return text;
}

std::string format_progress(double done, double seconds_so_far) {
  const double share = std::clamp(done, 0.0, 1.0);
  const std::string text = fmt::format("{:.0f} % done", 100 * share);
  if (share < 0.02 || seconds_so_far < 0.5) return text;
  const auto left = static_cast<int>(std::ceil(seconds_so_far * (1 - share) / share));
  return fmt::format("{}, {}:{:02} left", text, left / 60, left % 60);
}

}  // namespace rung
