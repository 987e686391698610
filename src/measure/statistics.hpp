#pragma once
// Order statistics of a few timings. There are no means, because one descheduled sample would
// distort them.

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

  /// Interquartile range over median: the noise of the measurement.
  double spread() const { return median > 0 ? (q3 - q1) / median : 0; }
};

/// Fewer samples say nothing about how sure their median is.
inline constexpr std::size_t least_samples = 5;

/// Half of the interval in which a median lies with about 95 % confidence: 1.57 IQR / sqrt(n) (McGill,
/// Tukey and Larsen, "Variations of Box Plots", The American Statistician 32, 1978). Infinite for fewer
/// than `least_samples`.
double margin_of_median(const Summary& summary);

/// Whether those intervals do not overlap: two medians then differ at about the 5 % level.
bool medians_differ(const Summary& a, const Summary& b);

/// By linear interpolation between order statistics; `fraction` from 0 to 1. 0 if there are none.
double quantile(std::span<const double> values, double fraction);

Summary summarize(std::span<const double> values);

/// numerator[i] / denominator[i] over the rounds that both took part in.
Summary paired_ratios(std::span<const double> numerator, std::span<const double> denominator);

/// The median of numerator[i] / denominator[i] over the rounds that both took part in; 0 if there
/// are none.
double median_ratio(std::span<const double> numerator, std::span<const double> denominator);

}  // namespace rung
