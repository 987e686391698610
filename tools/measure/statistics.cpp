#include "tools/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rung {
namespace {

double quantile_of(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

double quantile(std::span<const double> values, double fraction) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of(sorted, fraction);
}

Summary summarize(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return {sorted.size(),
          sorted.front(),
          quantile_of(sorted, 0.25),
          quantile_of(sorted, 0.50),
          quantile_of(sorted, 0.75),
          sorted.back()};
}

Summary paired_ratios(std::span<const double> numerator, std::span<const double> denominator) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(numerator.size(), denominator.size()); ++i) {
    ratios.push_back(numerator[i] / denominator[i]);
  }
  return summarize(ratios);
}

double median_ratio(std::span<const double> numerator, std::span<const double> denominator) {
  return paired_ratios(numerator, denominator).median;
}

double margin_of_median(const Summary& summary) {
  if (summary.count < least_samples) return std::numeric_limits<double>::infinity();
  constexpr double notch = 1.57;
  return notch * (summary.q3 - summary.q1) / std::sqrt(static_cast<double>(summary.count));
}

double margin_of_ratio(const Summary& ratios) {
  constexpr double max_spread = 0.25;
  if (ratios.spread() > max_spread) return std::numeric_limits<double>::infinity();
  return margin_of_median(ratios);
}

double relative_margin(const Summary& summary) { return margin_of_ratio(summary) / summary.median; }

bool medians_differ(const Summary& a, const Summary& b) {
  return std::abs(a.median - b.median) > margin_of_median(a) + margin_of_median(b);
}

}  // namespace rung
