#pragma once
// Order statistics of small sets of timings. Does not use means, because a single descheduled
// sample would distort them.

#include <cstddef>
#include <span>

namespace rung {

/// Quartiles by linear interpolation between order statistics.
struct Summary {
  std::size_t count = 0;
  double min = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double max = 0;

  /// The interquartile range divided by the median: the noise of the measurement.
  double spread() const { return median > 0 ? (q3 - q1) / median : 0; }
};

/// With fewer samples, the uncertainty of the median is unknown.
inline constexpr std::size_t least_samples = 5;

/// Half the width of an interval that contains the median with about 95 % confidence: 1.57 IQR /
/// sqrt(n) (McGill, Tukey and Larsen, "Variations of Box Plots", The American Statistician 32,
/// 1978). Infinite for fewer than `least_samples` samples.
double margin_of_median(const Summary& summary);

/// The margin of the median of paired ratios. Also infinite if their interquartile range exceeds a
/// quarter of it: in that case, the ratio is determined by something other than the two contenders.
double margin_of_ratio(const Summary& ratios);

/// margin_of_ratio() divided by the median.
double relative_margin(const Summary& summary);

/// True if these intervals do not overlap: the medians differ at approximately the 5 % significance
/// level.
bool medians_differ(const Summary& a, const Summary& b);

/// Interpolates linearly between order statistics. `fraction` is from 0 to 1. Returns 0 if `values`
/// is empty.
double quantile(std::span<const double> values, double fraction);

Summary summarize(std::span<const double> values);

/// numerator[i] / denominator[i] for the rounds in which both were timed.
Summary paired_ratios(std::span<const double> numerator, std::span<const double> denominator);

/// The median of numerator[i] / denominator[i] for the rounds in which both were timed; 0 without
/// such rounds.
double median_ratio(std::span<const double> numerator, std::span<const double> denominator);

}  // namespace rung
