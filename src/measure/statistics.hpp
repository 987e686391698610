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

/// By linear interpolation between order statistics; `fraction` from 0 to 1. 0 if there are none.
double quantile(std::span<const double> values, double fraction);

Summary summarize(std::span<const double> values);

/// The median of numerator[i] / denominator[i] over the rounds that both took part in; 0 if there
/// are none.
double median_ratio(std::span<const double> numerator, std::span<const double> denominator);

}  // namespace rung
